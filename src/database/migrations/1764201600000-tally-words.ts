import type { MigrationInterface, QueryRunner } from 'typeorm';
import { SORTED_TALLY_FUNCTIONS } from './1764115200000-tally-sorts.js';

/**
 * Has tallies count common words, and keeps them at less cost in statements of many rows.
 *
 * `install_tally` gets a fifth argument: `searched` names columns of type `tsvector`. Each of them has
 * these tables:
 *
 * - `<resource>_tally_by_<column>_counted`: the words that are counted. Maintenance chooses them. `is_counted` is
 *   false while the objects from before the choice are being counted.
 * - `<resource>_tally_by_<column>` and `<resource>_tally_by_<column>_deltas`: the number of objects with a
 *   word by facet. Its facets are `''` and those of each single counted column. There are no ranges.
 */
export class TallyWords1764201600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const tallies = await talliesOf(runner);
    await runner.query(`ALTER TABLE "tallies" ADD "searched" text[] NOT NULL DEFAULT '{}'`);
    await runner.query(
      'DROP FUNCTION install_tally(text, text, text[], text[]), remove_tally(text)',
    );
    for (const statement of FUNCTIONS) await runner.query(statement);
    for (const { resource, identifier, counted, sorted } of tallies) {
      const searched = resource === 'products' ? ['words'] : [];
      await runner.query('SELECT install_tally($1, $2, $3, $4, $5)', [
        ...[resource, identifier, counted, sorted, searched],
      ]);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    const tallies = await talliesOf(runner);
    await runner.query('SELECT remove_tally(resource) FROM tallies');
    await runner.query(
      `DROP FUNCTION install_tally(text, text, text[], text[], text[]), remove_tally(text),
         tally_facet(text), tally_sums(text[], text, text)`,
    );
    for (const statement of SORTED_TALLY_FUNCTIONS) await runner.query(statement);
    await runner.query('ALTER TABLE "tallies" DROP "searched"');
    for (const { resource, identifier, counted, sorted } of tallies) {
      await runner.query('SELECT install_tally($1, $2, $3, $4)', [
        ...[resource, identifier, counted, sorted],
      ]);
    }
  }
}

interface Tally {
  readonly resource: string;
  readonly identifier: string;
  readonly counted: readonly string[];
  readonly sorted: readonly string[];
}

function talliesOf(runner: QueryRunner): Promise<Tally[]> {
  return runner.query(
    'SELECT resource, identifier, counted, sorted FROM tallies ORDER BY resource',
  );
}

export const REMOVE_TALLY = `CREATE FUNCTION remove_tally(of_resource text) RETURNS void LANGUAGE plpgsql AS $remove$
 DECLARE
   operation text;
   name text;
 BEGIN
   FOREACH operation IN ARRAY '{insert,update,delete,truncate}'::text[] LOOP
     EXECUTE format('DROP TRIGGER IF EXISTS %I ON %I', of_resource || '_tally_' || operation, of_resource);
   END LOOP;
   EXECUTE format('DROP FUNCTION IF EXISTS %I()', 'keep_' || of_resource || '_tally');
   FOR name IN
     SELECT of_resource || suffix FROM tallies CROSS JOIN LATERAL (
       SELECT '_tally' || part || delta FROM unnest('{"",_deltas}'::text[]) delta, (
         SELECT '' UNION ALL SELECT '_by_' || unnest(sorted || searched)
       ) parts(part)
       UNION ALL SELECT '_tally_by_' || unnest(searched) || '_counted'
     ) suffixes(suffix)
     WHERE resource = of_resource
   LOOP
     EXECUTE format('DROP TABLE IF EXISTS %I', name);
   END LOOP;
   DELETE FROM tallies WHERE resource = of_resource;
   DELETE FROM resource_versions WHERE resource = of_resource;
 END $remove$`;

/** The SQL expression for the facet of the row `object`, by the name of its columns. */
const TALLY_FACET = `CREATE FUNCTION tally_facet(element text) RETURNS text LANGUAGE sql IMMUTABLE AS $facet$
   SELECT quote_literal(CASE element WHEN '' THEN '' ELSE element || '=' END) || coalesce(string_agg(
     CASE WHEN at < count THEN format(' || length(object.%1$I::text) || '':'' || object.%1$I::text', name)
     ELSE format(' || object.%I::text', name) END, '' ORDER BY at), '')
   FROM (
     SELECT name, at, count(*) OVER () AS count
     FROM unnest(string_to_array(element, '+')) WITH ORDINALITY AS named(name, at)
   ) names
 $facet$`;

/**
 * Returns the text of a query. It adds up the column `#step` of `source` by facet, and by the column `key` of
 * `source` if one is given. Its columns are `key`, `facet` and `total`. `source` contains a table `object`.
 * Sums of 0 are left out.
 */
const TALLY_SUMS = `CREATE FUNCTION tally_sums(elements text[], source text, key text DEFAULT NULL)
 RETURNS text LANGUAGE sql IMMUTABLE AS $sums$
   WITH names AS (
     SELECT name, 1 << (row_number() OVER (ORDER BY name) - 1)::integer AS bit
     FROM (SELECT DISTINCT unnest(string_to_array(array_to_string(elements, '+'), '+')) AS name) every
     WHERE name <> ''
   ), sets AS (
     SELECT element, (
         SELECT concat_ws(', ', key, string_agg(format('object.%I', name), ', ')) FROM names
         WHERE name = ANY(string_to_array(element, '+'))
       ) AS columns, (
         -- GROUPING has a bit for each column that is not in the set.
         SELECT coalesce(sum(bit), 0) FROM names WHERE name <> ALL(string_to_array(element, '+'))
       ) AS mask
     FROM unnest(elements) AS each(element)
   )
   SELECT format(
     'SELECT %1$sfacet, total FROM (
        SELECT %1$s%2$s AS facet, sum("#step") AS total FROM %3$s GROUP BY GROUPING SETS (%4$s)
      ) summed WHERE facet IS NOT NULL AND total <> 0',
     key || ', ', coalesce(
       'CASE GROUPING(' || (SELECT string_agg(format('object.%I', name), ', ' ORDER BY bit DESC) FROM names) || ')'
         || (SELECT string_agg(format(' WHEN %s THEN %s', mask, tally_facet(element)), '') FROM sets) || ' END',
       quote_literal('')), source, (SELECT string_agg('(' || columns || ')', ', ') FROM sets))
 $sums$`;

/**
 * The statements of the triggers are static text for each resource, so that a session plans them once.
 * The facet of an object whose counted column is null is null: it has no such facet.
 */
export const INSTALL_TALLY = `CREATE FUNCTION install_tally(
   of_resource text, identifier text, counted text[],
   sorted text[] DEFAULT '{}', searched text[] DEFAULT '{}'
 ) RETURNS void LANGUAGE plpgsql
 -- For the counts of every combination.
 SET work_mem = '256MB' AS $install$
 DECLARE
   -- Named in full, since writers come with search paths of their own.
   home text := quote_ident(current_schema());
   resource text := home || '.' || quote_ident(of_resource);
   keep text := home || '.' || quote_ident('keep_' || of_resource || '_tally');
   single text[] := ARRAY(SELECT name FROM unnest(counted) AS names(name) WHERE strpos(name, '+') = 0);
   -- The columns whose facets the tallies of sorted columns have, too.
   broad text[] := ARRAY(
     SELECT attname FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
     WHERE attrelid = resource::regclass AND attname = ANY(single) AND (typtype = 'e' OR typname = 'bool')
   );
   -- The columns that place an object in any order.
   columns text := (
     SELECT string_agg(DISTINCT quote_ident(name), ', ')
     FROM unnest(string_to_array(array_to_string(identifier || counted || sorted || searched, '+'), '+')) names(name)
   );
   -- One order: of the identifier, of a sorted column, or of the words of a searched column.
   ordered text;
   -- What it counts by: '' and names of columns, such as categoryID+type.
   elements text[];
   tally text;
   suffix text;
   deltas text;
   words text;
   -- The bounds of the first range of a facet, and the condition of any other range.
   first_bounds text;
   is_later text;
   is_valued text;
   ranged text;
   addition text;
   orders integer := 0;
   tables text := '';
   -- Which orders a change moves an object in.
   compared text := '';
   -- The statements that add rows to the deltas of every order. In them, @rows stands for the written rows,
   -- with 1 as "#step" for a new one and -1 for an old one.
   additions text := '';
   operation text;
 BEGIN
   PERFORM remove_tally(of_resource);
   -- No writer may come between the counting and the triggers.
   EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', resource);
   FOREACH ordered IN ARRAY ''::text || sorted || searched LOOP
     tally := of_resource || '_tally' || CASE ordered WHEN '' THEN '' ELSE '_by_' || ordered END;
     suffix := CASE WHEN ordered = ANY(searched) THEN '_counted' ELSE '_deltas' END;
     IF octet_length(tally || suffix) > 63 THEN
       RAISE 'The name % of a tally is longer than 63 bytes', tally || suffix;
     END IF;
     deltas := home || '.' || quote_ident(tally || '_deltas');
     tally := home || '.' || quote_ident(tally);
     tables := tables || ', ' || tally || ', ' || deltas;
     orders := orders + 1;
     elements := ''::text || CASE WHEN ordered = '' THEN counted WHEN ordered = ANY(sorted) THEN broad ELSE single END;
     compared := compared || (
       SELECT format(', bool_or(ROW(%s) IS DISTINCT FROM ROW(%s))',
         string_agg(format('came.%I', name), ', '), string_agg(format('went.%I', name), ', '))
       FROM (
         SELECT DISTINCT unnest(string_to_array(array_to_string(elements, '+'), '+') || ordered || identifier) AS name
       ) names
       WHERE name <> ''
     );
     IF ordered = ANY(searched) THEN
       words := home || '.' || quote_ident(of_resource || '_tally_by_' || ordered || '_counted');
       EXECUTE format(
         'CREATE TABLE %s (word text COLLATE "C" PRIMARY KEY, is_counted boolean NOT NULL DEFAULT false)', words);
       EXECUTE format(
         'CREATE TABLE %s (
            word text COLLATE "C", facet text COLLATE "C", count bigint NOT NULL, PRIMARY KEY (word, facet)
          ) WITH (fillfactor = 50)', tally);
       addition := format(
         'IF changed[%s] IS NOT FALSE AND EXISTS (SELECT FROM %s) THEN
            INSERT INTO %s (word, facet, count) WITH source AS (@rows) %s;
          END IF;
          ', orders, words, deltas, tally_sums(elements, format(
           'source object CROSS JOIN LATERAL unnest(tsvector_to_array(object.%I)) lexemes("#word") JOIN %s counted ON counted.word = "#word"',
           ordered, words), '"#word"'));
     ELSE
       IF ordered = '' THEN
         -- Half empty pages, so that a fold finds room beside the row and leaves the index alone.
         EXECUTE format(
           'CREATE TABLE %s (
              facet text COLLATE "C", lowest text COLLATE "C", count bigint NOT NULL,
              PRIMARY KEY (facet, lowest)
            ) WITH (fillfactor = 50)', tally);
         first_bounds := '''''';
         is_later := 'lowest <> ''''';
         is_valued := 'true';
         -- It has many facets, and few of them have several ranges.
         EXECUTE format('CREATE INDEX ON %s (facet) WHERE %s', tally, is_later);
         -- Inside a statement of a trigger: the ranges as that sees them.
         ranged := format(
           'SELECT facet, lowest, sum("#step") FROM (
              SELECT of.facet, coalesce((
                SELECT tally.lowest FROM %s tally
                WHERE tally.facet = of.facet AND tally.lowest <= object.%I
                ORDER BY tally.facet DESC, tally.lowest DESC LIMIT 1
              ), '''') AS lowest, "#step" FROM @faceted
            ) ranged GROUP BY facet, lowest HAVING sum("#step") <> 0', tally, identifier);
       ELSE
         EXECUTE format(
           'CREATE TABLE %s (
              facet text COLLATE "C" NOT NULL, value %s, lowest text COLLATE "C" NOT NULL, count bigint NOT NULL
            ) WITH (fillfactor = 50)', tally, (
             SELECT format_type(atttypid, atttypmod) || coalesce((
               SELECT format(' COLLATE %I.%I', nspname, collname)
               FROM pg_collation JOIN pg_namespace ON pg_namespace.oid = collnamespace
               WHERE pg_collation.oid = attcollation
             ), '')
             FROM pg_attribute WHERE attrelid = resource::regclass AND attname = ordered
           ));
         EXECUTE format('CREATE UNIQUE INDEX ON %s (facet, value NULLS FIRST, lowest) NULLS NOT DISTINCT', tally);
         first_bounds := 'NULL, ''''';
         is_later := 'value IS NOT NULL';
         is_valued := format('object.%I IS NOT NULL', ordered);
         ranged := format(
           'SELECT facet, value, lowest, sum("#step") FROM (
              SELECT facet, range.value, coalesce(range.lowest, '''') AS lowest, "#step" FROM (
                SELECT of.facet, object.%1$I AS value, object.%2$I AS key, "#step" FROM @faceted
              ) faceted LEFT JOIN LATERAL (
                SELECT tally.value, tally.lowest FROM %3$s tally
                WHERE tally.facet = faceted.facet AND (tally.value, tally.lowest) <= (faceted.value, faceted.key)
                ORDER BY tally.facet DESC, tally.value DESC NULLS LAST, tally.lowest DESC LIMIT 1
              ) range ON true
            ) ranged GROUP BY facet, value, lowest HAVING sum("#step") <> 0', ordered, identifier, tally);
       END IF;
       -- @faceted: each row in each of its facets. @which: a further condition.
       ranged := replace(ranged, '@faceted', (
         SELECT format('source object CROSS JOIN LATERAL (VALUES %s) of(facet) WHERE of.facet IS NOT NULL AND %s',
           string_agg(format('(%s)', tally_facet(element)), ', '), is_valued)
         FROM unnest(elements) AS each(element)
       ) || '@which');
       -- Many rows are counted by facet. Their ranges are looked up only in facets with several of them; if
       -- there is none, EXISTS has the rows not even be read.
       addition := format(
         'IF changed[%1$s] IS NOT FALSE THEN
            IF written > 1000 THEN
              INSERT INTO %2$s WITH source AS NOT MATERIALIZED (@rows), several AS MATERIALIZED (
                SELECT DISTINCT facet FROM %3$s WHERE %4$s
              )
              SELECT facet, %5$s, total FROM (%6$s) sums WHERE facet NOT IN (SELECT facet FROM several)
              UNION ALL %7$s;
            ELSE
              INSERT INTO %2$s WITH source AS (@rows) %8$s;
            END IF;
          END IF;
          ', orders, deltas, tally, is_later, first_bounds,
         tally_sums(elements, 'source object WHERE ' || is_valued),
         replace(ranged, '@which',
           ' AND EXISTS (SELECT FROM several) AND of.facet IN (SELECT facet FROM several)'),
         replace(ranged, '@which', ''));
       EXECUTE format('INSERT INTO %s (facet, lowest, count) SELECT facet, '''', total FROM (%s) sums', tally,
         tally_sums(elements, format('(SELECT %s, 1 AS "#step" FROM %s) object WHERE %s', columns, resource, is_valued)));
     END IF;
     EXECUTE format(
       'CREATE TABLE %s (LIKE %s) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)',
       deltas, tally);
     EXECUTE format('CREATE INDEX ON %s (%s)', deltas, CASE WHEN ordered = '' THEN 'facet, lowest'
       WHEN ordered = ANY(sorted) THEN 'facet, value, lowest' ELSE 'word, facet' END);
     additions := additions || addition;
   END LOOP;
   INSERT INTO tallies (resource, identifier, counted, sorted, searched)
   VALUES (of_resource, identifier, counted, sorted, searched);
   EXECUTE format($function$
     -- With its owner's rights: who may write the resource need not be let near its tally.
     CREATE FUNCTION %1$s() RETURNS trigger LANGUAGE plpgsql
     SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET work_mem = '64MB' AS $body$
     DECLARE
       -- Null: all of them.
       changed boolean[];
       -- At most 1001 for INSERT and DELETE.
       written bigint;
     BEGIN
       -- A snapshot from before the last cut names ranges that do not exist any more. The transaction
       -- is then refused (40001, serialization_failure), and the writer tries again.
       IF current_setting('transaction_isolation') <> 'read committed' THEN
         PERFORM FROM %7$s.tallies WHERE resource = %2$L FOR SHARE;
       END IF;
       IF TG_OP = 'INSERT' THEN
         SELECT count(*) INTO written FROM (SELECT FROM new_rows LIMIT 1001) first;
         IF written = 0 THEN RETURN NULL; END IF;
         %3$s
       ELSIF TG_OP = 'DELETE' THEN
         SELECT count(*) INTO written FROM (SELECT FROM old_rows LIMIT 1001) first;
         IF written = 0 THEN RETURN NULL; END IF;
         %4$s
       ELSIF TG_OP = 'UPDATE' THEN
         SELECT count(*), ARRAY[%8$s] INTO written, changed
         FROM new_rows came FULL JOIN old_rows went ON went.%9$I = came.%9$I;
         IF written = 0 THEN RETURN NULL; END IF;
         %5$s
       ELSE
         -- As the table itself: empty in every snapshot.
         TRUNCATE %6$s;
       END IF;
       INSERT INTO %7$s.resource_versions
       VALUES (%2$L, 1 + floor(random() * 4611686018427387904::numeric));
       RETURN NULL;
     END $body$ $function$,
     keep, of_resource,
     replace(additions, '@rows', format('SELECT %s, 1 AS "#step" FROM new_rows', columns)),
     replace(additions, '@rows', format('SELECT %s, -1 AS "#step" FROM old_rows', columns)),
     replace(additions, '@rows',
       format('SELECT %1$s, 1 AS "#step" FROM new_rows UNION ALL SELECT %1$s, -1 FROM old_rows', columns)),
     substr(tables, 3), home, substr(compared, 3), identifier);
   EXECUTE format(
     'CREATE TRIGGER %I AFTER INSERT ON %s REFERENCING NEW TABLE AS new_rows
      FOR EACH STATEMENT EXECUTE FUNCTION %s()', of_resource || '_tally_insert', resource, keep);
   EXECUTE format(
     'CREATE TRIGGER %I AFTER UPDATE ON %s REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
      FOR EACH STATEMENT EXECUTE FUNCTION %s()', of_resource || '_tally_update', resource, keep);
   EXECUTE format(
     'CREATE TRIGGER %I AFTER DELETE ON %s REFERENCING OLD TABLE AS old_rows
      FOR EACH STATEMENT EXECUTE FUNCTION %s()', of_resource || '_tally_delete', resource, keep);
   EXECUTE format(
     'CREATE TRIGGER %I AFTER TRUNCATE ON %s
      FOR EACH STATEMENT EXECUTE FUNCTION %s()', of_resource || '_tally_truncate', resource, keep);
   -- Also for a writer whose session says that it replicates.
   FOREACH operation IN ARRAY '{insert,update,delete,truncate}'::text[] LOOP
     EXECUTE format(
       'ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', resource, of_resource || '_tally_' || operation);
   END LOOP;
   INSERT INTO resource_versions
   VALUES (of_resource, 1 + floor(random() * 4611686018427387904::numeric));
 END $install$`;

const FUNCTIONS = [REMOVE_TALLY, TALLY_FACET, TALLY_SUMS, INSTALL_TALLY];
