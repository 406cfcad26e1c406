-- The function has one more argument since words are found in scripts without spaces.
DROP FUNCTION IF EXISTS search_words(text);
-- Whether the words of a resource are those of a former version. rebuild_words computes them again.
ALTER TABLE searches ADD COLUMN IF NOT EXISTS is_stale boolean NOT NULL DEFAULT false;
UPDATE searches SET is_stale = true;
