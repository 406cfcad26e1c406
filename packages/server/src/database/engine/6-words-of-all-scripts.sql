-- It has one more argument.
DROP FUNCTION IF EXISTS search_words(text);
-- A resource that is not in this table has no words: those of the version before are computed again.
DELETE FROM searches;
