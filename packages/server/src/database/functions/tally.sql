-- The tally of a resource makes counts exact and offsets cheap. It counts objects by facet: '' for all objects, or those with
-- one value in each of some counted columns. The facet of a column is named type=DIGITAL; that of a combination of
-- columns categoryID+type=5:outdoDIGITAL, where each value but the last follows its length in characters and a colon. An
-- object whose counted column is null has no such facet.
--
-- A tally has several orders. In each it has a table <resource>_tally… of counts, and a table <resource>_tally…_deltas of the
-- changes since then. Each writing statement appends its deltas, so the sum of both tables is exact in every snapshot,
-- and writers do not block each other. Maintenance folds the deltas into the counts, and cuts ranges again.
--
-- identifiers  <resource>_tally: by facet and range of identifiers. A range is named by its lowest identifier; the first
--              range by the least identifier of its type.
-- values       <resource>_tally_by_<column>, for each sorted column: by facet and range of (value, identifier). The value of
--              the first range is null. An object without a value is in none. Its facets are '' and those of each counted
--              column that is an enumeration or a boolean: the ranges of a rare value would span most of the index.
-- cells        <resource>_tally_cells_by_<column>, for each column of the declared intervals: by cell, in the column word, and
--              by facet. A cell is an interval of the column, the same for all facets. The table
--              <resource>_tally_cells_by_<column>_bounds has the lowest value of each but cell 0, which is the first. Its facets are
--              '', those of each single counted column, the items of each counted array, and the declared combinations:
--              categoryID+type+price has the facets of categoryID+type.
-- words        <resource>_tally_by_<column>, for each searched column: by word and facet, for the words in the table
--              <resource>_tally_by_<column>_counted. Maintenance chooses these. is_counted is false while the objects
--              from before the choice are being counted. Its facets are '', those of each single counted column, and the
--              items of each counted array.
-- items        <resource>_tally_by_<column>, for each counted array: by item, in the column word, and by facet, except those of
--              combinations such as categoryID+brandID, of which nearly every object has its own. An object counts once for
--              an item that it has twice. The word of objects without an item, whose array is null or empty, is null.

-- Why the sum is exact in every snapshot, also on a replica, while others write, fold and cut:
--
-- 1. The deltas of a statement are rows of its transaction. A snapshot shows them exactly if it shows what they count.
-- 2. A fold deletes deltas and adds them to the counts in one statement, so that no snapshot shows one without the other.
--    It sees committed deltas only, and needs no lock against writers.
-- 3. A cut replaces ranges. A writer that has appended deltas with their former names, but has not committed, would add to
--    ranges that do not exist any more. The cut therefore takes LOCK TABLE ... IN SHARE MODE: it waits until all writers
--    of the resource have ended, and keeps new ones out until it has committed.
-- 4. A writer that starts later at READ COMMITTED sees the new ranges in its next statement.
-- 5. A writer with an older snapshot, at REPEATABLE READ or above, would still see the former ranges. The cut updates the
--    row of the resource in tallies. The trigger of such a writer locks this row, and gets the error 40001.
--    The bounds of cells change under the same lock.
-- 6. A word is added under the same lock, so that every later writer records it. It is counted afterwards in one snapshot:
--    what writers had recorded by then is subtracted from what was counted, and the difference is appended as deltas.
--
-- Statements that read both lock the table of the resource before its tally, as TRUNCATE does. Otherwise a reader and a
-- TRUNCATE could deadlock.

-- What a tally counts, in the arguments of install_tally: its orders, each with its kind, its column, elements, what it
-- counts by: '' and columns such as categoryID+type, arrays, those by whose items it counts, if there are any, and empty, if
-- it counts the objects whose array has no item. That of a former version does not.
CREATE OR REPLACE FUNCTION tally_description(
  of_resource text, counted text[], sorted text[], searched text[], intervals text[]
) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_agg(
    jsonb_build_object('kind', kind, 'of_column', of_column, 'elements', ''::text || faceted)
      || CASE WHEN kind IN ('cells', 'words') AND arrays <> '{}' THEN jsonb_build_object('arrays', arrays) ELSE '{}' END
      || CASE kind WHEN 'items' THEN '{"empty": true}'::jsonb ELSE '{}' END
    ORDER BY kind, at
  )
  FROM (
    SELECT ARRAY(
      SELECT attname::text FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
      WHERE attrelid = to_regclass(format('%I.%I', current_schema(), of_resource)) AND attname = ANY(counted) AND typcategory = 'A'
      ORDER BY attnum
    ) AS arrays, ARRAY(
      SELECT attname::text FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
      WHERE attrelid = to_regclass(format('%I.%I', current_schema(), of_resource)) AND (typtype = 'e' OR typname = 'bool')
      ORDER BY attnum
    ) AS broad
  ) typed CROSS JOIN LATERAL (
    SELECT ARRAY(SELECT name FROM unnest(counted) name WHERE name <> ALL(arrays)) AS plain,
      ARRAY(SELECT name FROM unnest(counted) name WHERE name <> ALL(arrays) AND strpos(name, '+') = 0) AS single
  ) singles CROSS JOIN LATERAL (
    SELECT 'identifiers' AS kind, NULL AS of_column, 1 AS at, plain AS faceted
    UNION ALL
    SELECT 'values', of_sorted, at, ARRAY(SELECT name FROM unnest(broad) name WHERE name = ANY(single))
    FROM unnest(sorted) WITH ORDINALITY AS named(of_sorted, at)
    UNION ALL
    -- Former releases name single columns in within, which are counted anyway.
    SELECT 'cells', of_sorted, at, single || ARRAY(SELECT name FROM unnest(within) name WHERE name <> '' AND name <> ALL(single))
    FROM unnest(sorted) WITH ORDINALITY AS named(of_sorted, at) CROSS JOIN LATERAL (
      SELECT array_agg(left(element, -1 - length(of_sorted))) AS within FROM unnest(intervals) element
      WHERE element = of_sorted OR right(element, 1 + length(of_sorted)) = '+' || of_sorted
    ) declared
    WHERE within IS NOT NULL
    UNION ALL
    SELECT 'words', of_searched, at, single FROM unnest(searched) WITH ORDINALITY AS named(of_searched, at)
    UNION ALL
    SELECT 'items', of_array, at, ARRAY(
      SELECT name FROM unnest(plain) name
      WHERE (SELECT count(*) FROM unnest(string_to_array(name, '+')) each WHERE each <> ALL(broad)) <= 1
    ) FROM unnest(arrays) WITH ORDINALITY AS named(of_array, at)
  ) orders
$$;

-- The description of each tally as it was installed.
ALTER TABLE tallies ADD COLUMN IF NOT EXISTS orders jsonb;
-- Former versions have installed less of arrays.
UPDATE tallies SET orders = (
  SELECT jsonb_agg(ordered - 'arrays' - 'empty') FROM jsonb_array_elements(
    tally_description(resource, counted, sorted, searched, intervals)
  ) ordered
) WHERE orders IS NULL;
ALTER TABLE tallies ALTER orders SET NOT NULL;

-- The orders of each tally. place numbers those of a resource, and names are the columns that place an object in it.
CREATE OR REPLACE VIEW tally_orders AS
SELECT resource, identifier, kind, of_column, place,
  resource || '_tally' || CASE kind WHEN 'cells' THEN '_cells' ELSE '' END || coalesce('_by_' || of_column, '') AS tally,
  elements, string_to_array(array_to_string(ARRAY[identifier, of_column] || elements[2:] || arrays, '+'), '+') AS names, arrays, empty
FROM tallies CROSS JOIN LATERAL ROWS FROM (
  jsonb_to_recordset(orders) AS (
    kind text, of_column text COLLATE "C", elements text[] COLLATE "C", arrays text[] COLLATE "C", empty boolean
  )
) WITH ORDINALITY AS described(kind, of_column, elements, arrays, empty, place);

-- What the tally of a resource counts, as text; null if it has none. Every statement that reads a tally asks for it, since a
-- migration of another release may have installed another one: see src/tally/described-tally.ts. A plan is kept, which a
-- statement with this query would not have.
CREATE OR REPLACE FUNCTION installed_tally(of_resource text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN (SELECT orders FROM tallies WHERE resource = of_resource);
END $$;

-- The type of the identifiers of a table in its tally; null if there is no such column.
CREATE OR REPLACE FUNCTION identifier_type(of_table oid, identifier text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE typcategory WHEN 'S' THEN 'text COLLATE ' || (
      SELECT oid::regcollation FROM pg_collation WHERE oid = attcollation
    ) ELSE format_type(atttypid, NULL) END
  FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid WHERE attrelid = of_table AND attname = identifier
$$;

-- The type of a column, as in CREATE TABLE.
CREATE OR REPLACE FUNCTION column_type(of_table oid, of_column text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT format_type(atttypid, atttypmod) || coalesce(' COLLATE ' || nullif(attcollation, 0)::regcollation::text, '')
  FROM pg_attribute WHERE attrelid = of_table AND attname = of_column
$$;

-- The least value of a type of identifiers, as an SQL expression; null for a type that no identifier has.
CREATE OR REPLACE FUNCTION least_identifier(type text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE split_part(type, ' ', 1)
    WHEN 'text' THEN quote_literal('')
    WHEN 'integer' THEN quote_literal(-2147483648) || '::integer'
    WHEN 'bigint' THEN quote_literal(-9223372036854775808) || '::bigint'
    WHEN 'uuid' THEN quote_literal('00000000-0000-0000-0000-000000000000') || '::uuid'
  END
$$;

-- The SQL expression for the facet of the row object, by the names of its columns.
CREATE OR REPLACE FUNCTION tally_facet(element text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT quote_literal(CASE element WHEN '' THEN '' ELSE element || '=' END) || coalesce(string_agg(
    CASE WHEN at < count THEN format(' || length(object.%1$I::text) || '':'' || object.%1$I::text', name)
    ELSE format(' || object.%I::text', name) END, '' ORDER BY at), '')
  FROM (
    SELECT name, at, count(*) OVER () AS count
    FROM unnest(string_to_array(element, '+')) WITH ORDINALITY AS named(name, at)
  ) names
$$;

-- The table of the items of the row object, each once, in the column named.
CREATE OR REPLACE FUNCTION tally_items(of_column text, named text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT format('(SELECT DISTINCT item::text FROM unnest(object.%I) item WHERE item IS NOT NULL) items(%I)', of_column, named)
$$;

-- Returns the text of a query. It adds up the column "#step" of source by the facets of an order, and by the column key of
-- source if one is given. Its columns are key, facet and total. source contains a table object. Sums of 0 are left out.
CREATE OR REPLACE FUNCTION tally_sums(ordered tally_orders, source text, key text DEFAULT NULL) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  WITH names AS (
    SELECT name, 1 << (row_number() OVER (ORDER BY name) - 1)::integer AS bit
    FROM (SELECT DISTINCT unnest(string_to_array(array_to_string(ordered.elements, '+'), '+')) AS name) every
    WHERE name <> ''
  ), sets AS (
    SELECT element, (
        SELECT concat_ws(', ', key, string_agg(format('object.%I', name), ', ')) FROM names
        WHERE name = ANY(string_to_array(element, '+'))
      ) AS columns, (
        -- GROUPING has a bit for each column that is not in the set.
        SELECT coalesce(sum(bit), 0) FROM names WHERE name <> ALL(string_to_array(element, '+'))
      ) AS mask
    FROM unnest(ordered.elements) AS each(element)
  )
  SELECT format(
    'SELECT %1$sfacet, total FROM (
       SELECT %1$s%2$s AS facet, sum("#step") AS total FROM %3$s GROUP BY GROUPING SETS (%4$s)
     ) summed WHERE facet IS NOT NULL AND total <> 0',
    key || ', ', coalesce(
      'CASE GROUPING(' || (SELECT string_agg(format('object.%I', name), ', ' ORDER BY bit DESC) FROM names) || ')'
        || (SELECT string_agg(format(' WHEN %s THEN %s', mask, tally_facet(element)), '') FROM sets) || ' END',
      quote_literal('')),
    source, (SELECT string_agg('(' || columns || ')', ', ') FROM sets)
  ) || coalesce((
    SELECT string_agg(format(
      ' UNION ALL SELECT %1$s%2$L || "#item", sum("#step") FROM %3$s CROSS JOIN LATERAL %4$s
        GROUP BY %1$s"#item" HAVING sum("#step") <> 0',
      key || ', ', name || '=', source, tally_items(name, '#item')), '')
    FROM unnest(ordered.arrays) name
  ), '')
$$;

-- The table of the facets of the row object in an order.
CREATE OR REPLACE FUNCTION tally_facets(ordered tally_orders) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT format('(SELECT facet FROM (VALUES %s) named(facet) WHERE facet IS NOT NULL%s) of', (
    SELECT string_agg(format('(%s)', tally_facet(element)), ', ') FROM unnest(ordered.elements) element
  ), (
    SELECT string_agg(format(' UNION ALL SELECT %L || "#item" FROM %s', name || '=', tally_items(name, '#item')), '')
    FROM unnest(ordered.arrays) name
  ))
$$;

-- Creates the tables of an order. Half-empty pages have room for the counts that a fold writes, so that it leaves the index
-- alone. Autovacuum does not wait until a share of the deltas is dead: a fold empties the table.
CREATE OR REPLACE FUNCTION create_tally_tables(ordered tally_orders, key_type text, value_type text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  tally text := format('%I.%I', current_schema(), ordered.tally);
  deltas text := format('%I.%I', current_schema(), ordered.tally || '_deltas');
  longest text := ordered.tally || CASE ordered.kind WHEN 'words' THEN '_counted' ELSE '_deltas' END;
BEGIN
  IF octet_length(longest) > 63 THEN
    RAISE 'The name % of a tally is longer than 63 bytes', longest;
  END IF;
  EXECUTE format('CREATE TABLE %s (%s, count bigint NOT NULL) WITH (fillfactor = 50)', tally, format(CASE ordered.kind
    WHEN 'identifiers' THEN 'facet text COLLATE "C", lowest %1$s, PRIMARY KEY (facet, lowest)'
    WHEN 'values' THEN 'facet text COLLATE "C" NOT NULL, value %2$s, lowest %1$s NOT NULL'
    WHEN 'items' THEN 'word text COLLATE "C", facet text COLLATE "C" NOT NULL, UNIQUE NULLS NOT DISTINCT (word, facet)'
    ELSE 'word text COLLATE "C", facet text COLLATE "C", PRIMARY KEY (word, facet)' END, key_type, value_type));
  CASE ordered.kind
    WHEN 'identifiers' THEN
      -- It has many facets, and few of them have several ranges.
      EXECUTE format('CREATE INDEX ON %s (facet) WHERE lowest <> %s', tally, least_identifier(key_type));
    WHEN 'values' THEN
      EXECUTE format('CREATE UNIQUE INDEX ON %s (facet, value NULLS FIRST, lowest) NULLS NOT DISTINCT', tally);
    WHEN 'words' THEN
      EXECUTE format(
        'CREATE TABLE %I.%I (word text COLLATE "C" PRIMARY KEY, is_counted boolean NOT NULL DEFAULT false)',
        current_schema(), ordered.tally || '_counted');
    WHEN 'items' THEN
      EXECUTE format('CREATE INDEX ON %s (facet, word)', tally);
    WHEN 'cells' THEN
      EXECUTE format('CREATE TABLE %I.%I (lowest %s PRIMARY KEY, cell integer GENERATED ALWAYS AS IDENTITY UNIQUE)',
        current_schema(), ordered.tally || '_bounds', value_type);
  END CASE;
  EXECUTE format(
    'CREATE TABLE %s (LIKE %s) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)',
    deltas, tally);
  EXECUTE format('CREATE INDEX ON %s (%s)', deltas, CASE ordered.kind
    WHEN 'identifiers' THEN 'facet, lowest' WHEN 'values' THEN 'facet, value, lowest' ELSE 'word, facet' END);
END $$;

-- The query that adds up written rows by facet and range of an order of identifiers or values, as a trigger sees the ranges.
-- Its source is the table source of these rows.
--
-- which: a condition on the facets, as SQL
CREATE OR REPLACE FUNCTION tally_ranges(ordered tally_orders, first_key text, which text) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT format(CASE ordered.kind
    WHEN 'identifiers' THEN
      'SELECT facet, lowest, sum("#step") FROM (
         SELECT of.facet, coalesce((
           SELECT tally.lowest FROM %1$I.%2$I tally
           WHERE tally.facet = of.facet AND tally.lowest <= object.%3$I
           ORDER BY tally.facet DESC, tally.lowest DESC LIMIT 1
         ), %5$s) AS lowest, "#step" FROM %6$s
       ) ranged GROUP BY facet, lowest HAVING sum("#step") <> 0'
    ELSE
      'SELECT facet, value, lowest, sum("#step") FROM (
         SELECT facet, range.value, coalesce(range.lowest, %5$s) AS lowest, "#step" FROM (
           SELECT of.facet, object.%4$I AS value, object.%3$I AS key, "#step" FROM %6$s AND object.%4$I IS NOT NULL
         ) faceted LEFT JOIN LATERAL (
           SELECT tally.value, tally.lowest FROM %1$I.%2$I tally
           WHERE tally.facet = faceted.facet AND (tally.value, tally.lowest) <= (faceted.value, faceted.key)
           ORDER BY tally.facet DESC, tally.value DESC NULLS LAST, tally.lowest DESC LIMIT 1
         ) range ON true
       ) ranged GROUP BY facet, value, lowest HAVING sum("#step") <> 0' END,
    current_schema(), ordered.tally, ordered.identifier, ordered.of_column, first_key,
    format('source object CROSS JOIN LATERAL %s WHERE %s', tally_facets(ordered), which))
$$;

-- The table of what the row object is counted by in an order, in "#word": its counted words, its items or null, or its cell.
-- Without OFFSET 0, the cell would be looked up again for each facet.
CREATE OR REPLACE FUNCTION tally_words(ordered tally_orders) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE ordered.kind
    WHEN 'items' THEN CASE WHEN ordered.empty THEN format('(
         SELECT * FROM %s UNION ALL SELECT NULL WHERE coalesce(cardinality(object.%I), 0) = 0
       ) worded("#word")', tally_items(ordered.of_column, '#item'), ordered.of_column) ELSE tally_items(ordered.of_column, '#word') END
    WHEN 'cells' THEN format('(SELECT coalesce((
         SELECT cell FROM %I.%I WHERE lowest <= object.%3$I ORDER BY lowest DESC LIMIT 1
       ), 0)::text WHERE object.%3$I IS NOT NULL OFFSET 0) cells("#word")', current_schema(), ordered.tally || '_bounds', ordered.of_column)
    ELSE format('unnest(tsvector_to_array(object.%I)) lexemes("#word")
         JOIN %I.%I counted ON counted.word = "#word"', ordered.of_column, current_schema(), ordered.tally || '_counted')
  END
$$;

-- Returns the text of a query that counts the objects of an order. Its columns are those that identify a row of the tally, and
-- the number of objects.
--
-- counted: whether it counts the counted words, or those that are not counted yet
-- which: a condition on the objects, as SQL
CREATE OR REPLACE FUNCTION tally_recount(ordered tally_orders, counted boolean DEFAULT true, which text DEFAULT 'true')
RETURNS text LANGUAGE sql STABLE AS $$
  SELECT format('WITH source AS NOT MATERIALIZED (SELECT *, 1 AS "#step" FROM %s WHERE %s) %s', resource, which, CASE
    WHEN ordered.kind IN ('words', 'items', 'cells') THEN tally_sums(
      ordered, 'source object CROSS JOIN LATERAL ' || tally_words(ordered)
        || CASE ordered.kind WHEN 'words' THEN format(' AND is_counted = %L', counted) ELSE '' END, '"#word"')
    ELSE tally_ranges(ordered, least_identifier(identifier_type(resource, ordered.identifier)), 'true')
  END)
  FROM CAST(format('%I.%I', current_schema(), ordered.resource) AS regclass) resource
$$;

-- The statement that adds written rows to the deltas of an order. @rows stands for these rows, with 1 as "#step" for a new
-- one and -1 for an old one, and @moved for those of them that move in the order. In the variables changed and written the
-- trigger has which orders a change moves objects in (null: all), and the number of rows. For INSERT and DELETE
-- create_tally_function counts no further than to the row that makes a statement large.
CREATE OR REPLACE FUNCTION tally_addition(ordered tally_orders, first_key text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE
    -- GROUPING SETS take long to start: only for many rows.
    WHEN ordered.kind IN ('words', 'items', 'cells') THEN format(
      'IF changed[%1$s] IS NOT FALSE%2$s THEN
         IF written > 1000 THEN
           INSERT INTO %3$s (word, facet, count) WITH source AS (@moved) %4$s;
         ELSE
           INSERT INTO %3$s (word, facet, count) WITH source AS (@rows)
           SELECT "#word", of.facet, sum("#step") FROM %5$s CROSS JOIN LATERAL %6$s GROUP BY "#word", of.facet HAVING sum("#step") <> 0;
         END IF;
       END IF;
       ', ordered.place, CASE ordered.kind
        WHEN 'words' THEN format(' AND EXISTS (SELECT FROM %I.%I)', current_schema(), ordered.tally || '_counted') ELSE '' END,
      deltas, tally_sums(ordered, worded, '"#word"'), worded, tally_facets(ordered))
    -- Many rows are counted by facet. Their ranges are looked up only in facets with several of them; if there is none,
    -- EXISTS has the rows not even be read.
    ELSE format(
      'IF changed[%1$s] IS NOT FALSE THEN
         IF written > 1000 THEN
           INSERT INTO %2$s WITH source AS NOT MATERIALIZED (@moved), several AS MATERIALIZED (
             SELECT DISTINCT facet FROM %3$s WHERE %4$s
           )
           SELECT facet, %5$s, total FROM (%6$s) sums WHERE facet NOT IN (SELECT facet FROM several)
           UNION ALL %7$s;
         ELSE
           INSERT INTO %2$s WITH source AS (@rows) %8$s;
         END IF;
       END IF;
       ', ordered.place, deltas, tally,
      CASE ordered.kind WHEN 'values' THEN 'value IS NOT NULL' ELSE 'lowest <> ' || first_key END,
      CASE ordered.kind WHEN 'values' THEN 'NULL, ' ELSE '' END || first_key,
      tally_sums(ordered, 'source object' || coalesce(' WHERE object.' || quote_ident(ordered.of_column) || ' IS NOT NULL', '')),
      tally_ranges(ordered, first_key, 'EXISTS (SELECT FROM several) AND of.facet IN (SELECT facet FROM several)'),
      tally_ranges(ordered, first_key, 'true'))
  END
  FROM (
    SELECT format('%I.%I', current_schema(), ordered.tally) AS tally,
      format('%I.%I', current_schema(), ordered.tally || '_deltas') AS deltas,
      'source object CROSS JOIN LATERAL ' || tally_words(ordered) AS worded
  ) tables
$$;

-- Creates the function of the triggers that keep a tally. Its statements are static text, so that a session plans them once.
-- Its work_mem is that of its own statements, in any session: those of the writer keep theirs.
--
CREATE OR REPLACE FUNCTION create_tally_function(of_resource text) RETURNS void LANGUAGE plpgsql AS $create$
DECLARE
  home text := quote_ident(current_schema());
  of_identifier text := (SELECT identifier FROM tallies WHERE resource = of_resource);
  first_key text := least_identifier(identifier_type(format('%s.%I', home, of_resource)::regclass, of_identifier));
  inserted text;
  deleted text;
  updated text;
  compared text;
  tables text;
BEGIN
  SELECT string_agg(replace(replace(addition, '@moved', '@rows'), '@rows', came), '' ORDER BY place),
    string_agg(replace(replace(addition, '@moved', '@rows'), '@rows', went), '' ORDER BY place),
    -- A statement may write a row several times, as the actions of two foreign keys do.
    string_agg(replace(replace(addition, '@rows', came || ' UNION ALL ' || went), '@moved', format(
      'SELECT %1$s, sum("#step")::integer AS "#step" FROM (%2$s UNION ALL %3$s) written GROUP BY %1$s HAVING sum("#step") <> 0',
      placed, came, went
    )), '' ORDER BY place),
    string_agg(format('bool_or(ROW(%s) IS DISTINCT FROM ROW(%s))', placed_came, placed_went), ', ' ORDER BY place),
    string_agg(format('%1$s.%2$I, %1$s.%3$I', home, tally, tally || '_deltas'), ', ' ORDER BY place)
  INTO inserted, deleted, updated, compared, tables
  FROM tally_orders ordered
  CROSS JOIN LATERAL tally_addition(ordered, first_key) addition
  CROSS JOIN LATERAL (
    SELECT string_agg(DISTINCT quote_ident(name), ', ') AS placed,
      string_agg(DISTINCT format('came.%I', name), ', ') AS placed_came,
      string_agg(DISTINCT format('went.%I', name), ', ') AS placed_went
    FROM unnest(names) name
  ) compared_rows
  CROSS JOIN LATERAL (
    SELECT format('SELECT %s, 1 AS "#step" FROM new_rows', placed) AS came,
      format('SELECT %s, -1 AS "#step" FROM old_rows', placed) AS went
  ) written
  WHERE ordered.resource = of_resource;
  EXECUTE format($function$
    -- With its owner's rights: a writer needs no privilege on the tally.
    CREATE OR REPLACE FUNCTION %1$s() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET work_mem = '64MB' AS $body$
    -- A column may have the name of a variable, such as new.
    #variable_conflict use_column
    DECLARE
      -- Null: all of them.
      changed boolean[];
      -- At most 1001 for INSERT and DELETE: enough to know whether there are more than 1000.
      written bigint;
    BEGIN
      -- A snapshot from before the last cut names ranges that do not exist any more. The transaction
      -- is then refused (40001, serialization_failure), and the writer tries again.
      IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM FROM %2$s.tallies WHERE resource = %3$L FOR SHARE;
      END IF;
      IF TG_OP = 'INSERT' THEN
        SELECT count(*) INTO written FROM (SELECT FROM new_rows LIMIT 1001) first;
        IF written = 0 THEN RETURN NULL; END IF;
        %4$s
      ELSIF TG_OP = 'DELETE' THEN
        SELECT count(*) INTO written FROM (SELECT FROM old_rows LIMIT 1001) first;
        IF written = 0 THEN RETURN NULL; END IF;
        %5$s
      ELSIF TG_OP = 'UPDATE' THEN
        SELECT count(*), ARRAY[%7$s] INTO written, changed
        FROM new_rows came FULL JOIN old_rows went ON went.%8$I = came.%8$I;
        IF written = 0 THEN RETURN NULL; END IF;
        %6$s
      ELSE
        -- As the table itself: empty in every snapshot.
        TRUNCATE %9$s;
      END IF;
      INSERT INTO %2$s.resource_versions (resource) VALUES (%3$L);
      RETURN NULL;
    END $body$ $function$,
    format('%s.%I', home, 'keep_' || of_resource || '_tally'), home, of_resource,
    inserted, deleted, updated, compared, of_identifier, tables);
END $create$;

-- Creates the function of the triggers again, as after a change of create_tally_function.
CREATE OR REPLACE FUNCTION refresh_tally(of_resource text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  caller text := current_setting('role');
BEGIN
  PERFORM set_config('role', (
    SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = to_regclass(quote_ident(of_resource))
  ), true);
  PERFORM create_tally_function(of_resource);
  PERFORM set_config('role', caller, true);
END $$;

-- Creates the tally of a resource with a table of its own, or creates it anew, and counts the objects. All that it creates
-- belongs to the owner of that table.
--
-- counted: columns, and combinations such as categoryID+type; arrays, whose items are counted
-- sorted, searched: columns
-- intervals: sorted columns, or combinations such as categoryID+type+price, of which the last one is a sorted column
CREATE OR REPLACE FUNCTION install_tally(
  of_resource text, identifier text, counted text[],
  sorted text[] DEFAULT '{}', searched text[] DEFAULT '{}', intervals text[] DEFAULT '{}'
) RETURNS void LANGUAGE plpgsql
-- For the counts of every combination.
SET work_mem = '256MB' AS $$
DECLARE
  home text := quote_ident(current_schema());
  caller text := current_setting('role');
  resource regclass := format('%s.%I', home, of_resource);
  key_type text := identifier_type(resource, identifier);
  first_key text := least_identifier(key_type);
  columns text;
  ordered tally_orders;
BEGIN
  IF first_key IS NULL THEN
    RAISE 'The identifier % of % must be a text, an integer, a bigint or a uuid, not %', identifier, of_resource, key_type;
  END IF;
  -- In the role of the caller: an administrator removes also what another one owns.
  PERFORM remove_tally(of_resource);
  PERFORM set_config('role', (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = resource), true);
  -- No writer may come between the counting and the triggers.
  EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', resource);
  INSERT INTO tallies (resource, identifier, counted, sorted, searched, intervals, orders)
  VALUES (of_resource, identifier, counted, sorted, searched, intervals,
    tally_description(of_resource, counted, sorted, searched, intervals));
  SELECT string_agg(DISTINCT quote_ident(name), ', ') INTO columns
  FROM tally_orders orders CROSS JOIN unnest(names) name WHERE orders.resource = of_resource;
  FOR ordered IN SELECT * FROM tally_orders orders WHERE orders.resource = of_resource ORDER BY place LOOP
    PERFORM create_tally_tables(ordered, key_type, column_type(resource, ordered.of_column));
    IF ordered.kind IN ('items', 'cells') THEN
      EXECUTE format('INSERT INTO %s.%I (word, facet, count) %s', home, ordered.tally, tally_recount(ordered));
    END IF;
    CONTINUE WHEN ordered.kind IN ('words', 'items', 'cells');
    EXECUTE format('INSERT INTO %s.%I (facet, lowest, count) SELECT facet, %s, total FROM (%s) sums',
      home, ordered.tally, first_key, tally_sums(ordered, format(
        '(SELECT %s, 1 AS "#step" FROM %s%s) object', columns, resource,
        coalesce(' WHERE ' || quote_ident(ordered.of_column) || ' IS NOT NULL', ''))));
  END LOOP;
  PERFORM create_tally_function(of_resource);
  PERFORM install_triggers(of_resource, 'tally');
  INSERT INTO resource_versions (resource) VALUES (of_resource);
  PERFORM set_config('role', caller, true);
END $$;

CREATE OR REPLACE FUNCTION remove_tally(of_resource text) RETURNS void LANGUAGE plpgsql
SET client_min_messages = warning AS $$
DECLARE
  name text;
BEGIN
  EXECUTE format('DROP FUNCTION IF EXISTS %I() CASCADE', 'keep_' || of_resource || '_tally');
  FOR name IN
    SELECT tally || part FROM tally_orders CROSS JOIN unnest('{"",_deltas,_counted,_bounds}'::text[]) part
    WHERE resource = of_resource AND (part <> '_counted' OR kind = 'words') AND (part <> '_bounds' OR kind = 'cells')
  LOOP
    EXECUTE format('DROP TABLE IF EXISTS %I', name);
  END LOOP;
  DELETE FROM tallies WHERE resource = of_resource;
  DELETE FROM resource_versions WHERE resource = of_resource;
END $$;
