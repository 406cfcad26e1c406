-- A search finds words without regard to case and accents. The column words of a searched resource contains these lexemes:
--
-- - each word, or in another language than simple its stem;
-- - ^ before it: the same of the words of the title, which is the first searched text of an object;
-- - in another language than simple, * and ^* before it: each word as it is, for the search for beginnings.
--
-- No word contains ^ or *, since they separate words. The functions search_language, search_lower and search_separators are
-- of each database: see ../engine.ts.

-- The words of a text, folded, with a space between them. A text without accents takes a short way. Left out of words are
-- accents of any script, points of Hebrew and Arabic, variation selectors, and what joins or divides the parts of a word
-- without being seen.
CREATE OR REPLACE FUNCTION search_text(text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  folded text := $1;
BEGIN
  IF octet_length(folded) = length(folded) THEN
    RETURN btrim(regexp_replace(lower(folded COLLATE "C"), '[^a-z0-9]+', ' ', 'g'));
  END IF;
  folded := regexp_replace(normalize(folded, NFKD),
    '[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f'
    '\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670'
    '\ufe00-\ufe0f\U000e0100-\U000e01ef\u00ad\u200c\u200d]+', '', 'g');
  IF octet_length(folded) = length(folded) THEN
    RETURN btrim(regexp_replace(lower(folded COLLATE "C"), '[^a-z0-9]+', ' ', 'g'));
  END IF;
  -- Letters that have no decomposition, and what they are searched as.
  folded := translate(search_lower(folded), 'øłđðħıŧς', 'olddhitσ');
  folded := replace(replace(replace(replace(folded, 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th');
  RETURN btrim(regexp_replace(normalize(folded, NFKC), search_separators(), ' ', 'g'));
END $$;

-- The characters of scripts that are written without spaces, for a bracket expression: Han, Hiragana, Katakana, Thai, Lao,
-- Myanmar and Khmer.
CREATE OR REPLACE FUNCTION search_unspaced() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT '\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u302a-\u302d\u3031-\u3035\u3038-\u303c\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff'
    '\U00020000-\U0003fffd\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\U00016fe3\U00016ff0-\U00016fff\U0001aff0-\U0001b16f'
    '\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecf\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109f\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f'
    '\u1780-\u17d3\u17d7\u17dc\u17dd'
$$;

-- The words of a text. A sequence of characters that is written without spaces is not a word: each two and each three that are
-- adjacent take its place, and a character that is alone. To search for a sequence of three or more, each three do.
-- A lexeme has at most 2046 bytes: longer words are left out. A tsvector has at most a megabyte: a text with such sequences has
-- at most 20,000 words, of about 10,000 characters, and later ones are not found. So codes belong before long texts.
CREATE OR REPLACE FUNCTION search_words(of_text text, is_sought boolean DEFAULT false) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  folded text := search_text(of_text);
  words text[] := coalesce(string_to_array(folded, ' '), '{}');
BEGIN
  IF octet_length(folded) > length(folded) AND folded ~ format('[%s]', search_unspaced()) THEN
    words := (ARRAY(
      SELECT word
      FROM regexp_matches(folded, format('([%1$s]+)|([^ %1$s]+)', search_unspaced()), 'g') WITH ORDINALITY AS parts(part, place)
      CROSS JOIN LATERAL (SELECT string_to_array(part[1], NULL)) characters(every)
      CROSS JOIN LATERAL (
        SELECT coalesce(part[2], part[1]) WHERE part[2] IS NOT NULL OR cardinality(every) = 1
        UNION ALL SELECT one || two FROM unnest(every, every[2:]) pairs(one, two) WHERE NOT is_sought OR cardinality(every) = 2
        UNION ALL SELECT one || two || three FROM unnest(every, every[2:], every[3:]) triples(one, two, three)
      ) words(word)
      WHERE word IS NOT NULL ORDER BY place
    ))[:20000];
  END IF;
  IF octet_length(folded) > 2000 AND folded ~ '[^ ]{250}' THEN
    words := ARRAY(SELECT word FROM unnest(words) each(word) WHERE octet_length(word) <= 2000);
  END IF;
  RETURN words;
END $$;

-- The stems of words in the language of searches, without repetitions. Sequences of characters stay as they are: of those that
-- begin with a mark, PostgreSQL's parser leaves it out.
CREATE OR REPLACE FUNCTION search_stems(words text[]) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  language regconfig := search_language();
  texts text := array_to_string(words, ' ');
  is_unspaced text := format('[%s]', search_unspaced());
BEGIN
  IF octet_length(texts) = length(texts) OR texts !~ is_unspaced THEN
    RETURN tsvector_to_array(to_tsvector(language, texts));
  END IF;
  RETURN (
    SELECT tsvector_to_array(to_tsvector(language, coalesce(string_agg(word, ' ') FILTER (WHERE word !~ is_unspaced), '')))
      || coalesce(array_agg(DISTINCT word) FILTER (WHERE word ~ is_unspaced), '{}')
    FROM unnest(words) each(word)
  );
END $$;

-- The lexemes of an object, of its title and of its other texts.
CREATE OR REPLACE FUNCTION object_words(title text, texts text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  titled text[] := search_words(title);
  words text[] := titled || search_words(texts);
  stems text[];
  titled_stems text[];
BEGIN
  IF search_language() = 'simple' THEN
    IF titled = '{}' THEN RETURN array_to_tsvector(words); END IF;
    RETURN array_to_tsvector(words || string_to_array('^' || array_to_string(titled, ' ^'), ' '));
  END IF;
  stems := search_stems(words);
  titled_stems := search_stems(titled);
  RETURN array_to_tsvector(stems || ARRAY(
    SELECT '*' || word FROM unnest(words) each(word)
    UNION ALL SELECT '^' || word FROM unnest(titled_stems) each(word)
    UNION ALL SELECT '^*' || word FROM unnest(titled) each(word)
  ));
END $$;

-- The lexemes that an object with all words of a text has, without repetitions. If the language leaves out every word, as
-- English does with "the", they are searched as they are.
CREATE OR REPLACE FUNCTION search_lexemes(texts text, in_title boolean) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  words text[] := search_words(texts, is_sought => true);
  lexemes text[] := words;
BEGIN
  IF search_language() <> 'simple' THEN
    lexemes := search_stems(words);
    IF lexemes = '{}' THEN lexemes := ARRAY(SELECT '*' || word FROM unnest(words) each(word)); END IF;
  END IF;
  RETURN ARRAY(
    SELECT DISTINCT CASE WHEN in_title THEN '^' ELSE '' END || lexeme FROM unnest(lexemes) each(lexeme)
    ORDER BY 1
  );
END $$;

-- Finds all words of a text, and a word with each of the beginnings.
CREATE OR REPLACE FUNCTION search_query(texts text, beginnings text[], in_title boolean) RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  mark text := CASE WHEN in_title THEN '^' ELSE '' END || CASE search_language() WHEN 'simple' THEN '' ELSE '*' END;
BEGIN
  RETURN (
    SELECT coalesce(string_agg(operand, ' & '), '') FROM (
      SELECT format('''%s''', replace(replace(lexeme, '\', '\\'), '''', '''''')) AS operand
      FROM unnest(search_lexemes(texts, in_title)) each(lexeme)
      UNION ALL
      -- A beginning may fold into several words. The last one goes on.
      SELECT format('''%s''%s', mark || word, CASE WHEN at = cardinality(words) THEN ':*' ELSE '' END)
      FROM unnest(beginnings) each(beginning)
      CROSS JOIN LATERAL search_words(beginning, is_sought => true) words
      CROSS JOIN LATERAL unnest(words) WITH ORDINALITY parts(word, at)
    ) operands
  )::tsquery;
END $$;

-- The words of a row by columns, of which the first is the title, as an SQL expression.
CREATE OR REPLACE FUNCTION row_words(of_row text, columns text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT format('object_words(%s.%I::text, concat_ws('' '', NULL%s))', of_row, columns[1],
    string_agg(format(', %s.%I', of_row, name), '' ORDER BY at))
  FROM unnest(columns[2:]) WITH ORDINALITY each(name, at)
$$;

-- Creates the trigger that sets the column words from columns, and computes the words of every object: while there was none,
-- they were not kept. If it is there, replaces its function, which belongs to the owner of the table.
CREATE OR REPLACE FUNCTION install_words(of_resource text, columns text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  home text := quote_ident(current_schema());
  caller text := current_setting('role');
  resource regclass := format('%s.%I', home, of_resource);
  keep text := 'keep_' || of_resource || '_words';
  is_there boolean := EXISTS (SELECT FROM searches former WHERE former.resource = of_resource)
    AND EXISTS (SELECT FROM part_triggers(of_resource) WHERE part = 'words' AND is_installed);
BEGIN
  -- In the role of the caller: an administrator removes also what another one owns.
  IF NOT is_there THEN PERFORM remove_words(of_resource); END IF;
  PERFORM set_config('role', (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = resource), true);
  -- Writers have search paths of their own. A restore of data only has an empty one.
  EXECUTE format(
    'CREATE OR REPLACE FUNCTION %1$I() RETURNS trigger LANGUAGE plpgsql SET search_path = %2$s, pg_temp AS $body$
     BEGIN
       IF TG_OP = ''INSERT'' OR (%3$s) IS DISTINCT FROM (%4$s) THEN
         NEW."words" := %5$s;
       END IF;
       RETURN NEW;
     END $body$', keep, home,
    (SELECT string_agg(format('NEW.%I', name), ', ' ORDER BY at) FROM unnest(columns) WITH ORDINALITY each(name, at)),
    (SELECT string_agg(format('OLD.%I', name), ', ' ORDER BY at) FROM unnest(columns) WITH ORDINALITY each(name, at)),
    row_words('NEW', columns));
  PERFORM install_triggers(of_resource, 'words');
  -- Near words are those of the statistics, which by default have at most 1000 lexemes. A target that was set stays.
  IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = resource AND attname = 'words' AND coalesce(attstattarget, -1) < 0) THEN
    EXECUTE format('ALTER TABLE %s ALTER "words" SET STATISTICS 300', resource);
  END IF;
  INSERT INTO searches VALUES (of_resource, columns)
  ON CONFLICT ON CONSTRAINT searches_pkey DO UPDATE SET columns = EXCLUDED.columns;
  PERFORM set_config('role', caller, true);
  IF NOT is_there THEN PERFORM rebuild_words(of_resource); END IF;
END $$;

CREATE OR REPLACE FUNCTION remove_words(of_resource text) RETURNS void LANGUAGE plpgsql
SET client_min_messages = warning AS $$
BEGIN
  EXECUTE format('DROP FUNCTION IF EXISTS %I() CASCADE', 'keep_' || of_resource || '_words');
  DELETE FROM searches WHERE resource = of_resource;
END $$;

-- Computes the words of every object anew. Readers go on; writers wait until the transaction ends.
CREATE OR REPLACE FUNCTION rebuild_words(of_resource text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  of_table regclass := format('%I.%I', current_schema(), of_resource);
  words text := (SELECT row_words('object', columns) FROM searches WHERE resource = of_resource);
  tally text := of_resource || '_tally_by_words';
  disabled text;
  enabled text;
BEGIN
  EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', of_table);
  SELECT coalesce(string_agg(format('ALTER TABLE %s DISABLE TRIGGER %I', of_table, tgname), ';'), 'SELECT'),
    coalesce(string_agg(format('ALTER TABLE %s ENABLE %s TRIGGER %I', of_table,
      CASE tgenabled WHEN 'A' THEN 'ALWAYS' WHEN 'R' THEN 'REPLICA' ELSE '' END, tgname), ';'), 'SELECT')
  INTO disabled, enabled
  FROM pg_trigger
  WHERE tgrelid = of_table AND NOT tgisinternal AND tgenabled <> 'D';
  -- No field changes: neither do times, tallies of other columns, and deletions.
  EXECUTE disabled;
  EXECUTE format('UPDATE %1$s object SET "words" = %2$s WHERE "words" IS DISTINCT FROM %2$s', of_table, words);
  EXECUTE enabled;
  UPDATE searches SET is_stale = false WHERE resource = of_resource AND is_stale;
  -- Maintenance chooses and counts words anew. The words come first: a count that has just ended is then deleted with the
  -- others, and one under way fails.
  IF to_regclass(quote_ident(tally)) IS NOT NULL THEN
    EXECUTE format('DELETE FROM %I; DELETE FROM %I; DELETE FROM %I', tally || '_counted', tally, tally || '_deltas');
  END IF;
  INSERT INTO resource_versions (resource) VALUES (of_resource);
END $$;
