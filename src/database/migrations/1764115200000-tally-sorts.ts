import type { MigrationInterface, QueryRunner } from 'typeorm';
import { TALLY_FUNCTIONS } from './1763769600000-keep-tallies.js';

/**
 * Extends tallies. `install_tally` gets a fourth argument, and a wider third one:
 *
 * - `counted` may name combinations of columns: `{type,categoryID+type}`. The facet of such a
 *   combination is `categoryID+type=5:outdoPHYSICAL`: each value but the last follows its length in
 *   characters and a colon.
 * - `sorted` names columns that lists are sorted by. Each has a tally of its own in the order of the
 *   column and then of the identifier: `<resource>_tally_by_<column>` and
 *   `<resource>_tally_by_<column>_deltas`. A range is named by the lowest `value` and the lowest
 *   identifier with it; the `value` of the first range is null. An object without a value is not in it.
 *   Its facets are `''`, and those of each counted column that is an enumeration or a boolean: the ranges
 *   of a rare value would span most of the index.
 */
export class TallySorts1764115200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "tallies" ADD "sorted" text[] NOT NULL DEFAULT '{}'`);
    await runner.query('DROP FUNCTION install_tally(text, text, text[]), remove_tally(text)');
    await runner.query(REMOVE_TALLY);
    await runner.query(INSTALL_TALLY);
    await runner.query(`SELECT install_tally('brands', 'brandID', '{}', '{name}')`);
    await runner.query(`SELECT install_tally('categories', 'categoryID', '{}', '{name}')`);
    await runner.query(
      `SELECT install_tally('products', 'productID',
         '{type,categoryID,brandID,inStock,categoryID+type,brandID+type,categoryID+brandID,categoryID+inStock,brandID+inStock,type+inStock}',
         '{name,price,createdAt,updatedAt}')`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('SELECT remove_tally(resource) FROM tallies WHERE sorted <> $1', ['{}']);
    await runner.query(
      'DROP FUNCTION install_tally(text, text, text[], text[]), remove_tally(text)',
    );
    for (const statement of TALLY_FUNCTIONS) await runner.query(statement);
    await runner.query('ALTER TABLE "tallies" DROP "sorted"');
    await runner.query(`SELECT install_tally('brands', 'brandID', '{}')`);
    await runner.query(`SELECT install_tally('categories', 'categoryID', '{}')`);
    await runner.query(
      `SELECT install_tally('products', 'productID', '{type,categoryID,brandID}')`,
    );
  }
}

const REMOVE_TALLY = `CREATE FUNCTION remove_tally(of_resource text) RETURNS void LANGUAGE plpgsql AS $remove$
 DECLARE
   operation text;
   suffix text;
 BEGIN
   FOREACH operation IN ARRAY '{insert,update,delete,truncate}'::text[] LOOP
     EXECUTE format('DROP TRIGGER IF EXISTS %I ON %I', of_resource || '_tally_' || operation, of_resource);
   END LOOP;
   EXECUTE format('DROP FUNCTION IF EXISTS %I()', 'keep_' || of_resource || '_tally');
   FOR suffix IN
     SELECT '' UNION ALL SELECT '_by_' || unnest(sorted) FROM tallies WHERE resource = of_resource
   LOOP
     EXECUTE format('DROP TABLE IF EXISTS %I, %I',
       of_resource || '_tally' || suffix, of_resource || '_tally' || suffix || '_deltas');
   END LOOP;
   DELETE FROM tallies WHERE resource = of_resource;
   DELETE FROM resource_versions WHERE resource = of_resource;
 END $remove$`;

/**
 * The statements of the triggers are static text for each resource, so that a session plans them once.
 * The facet of an object whose counted column is null is null: it has no such facet.
 */
const INSTALL_TALLY = `CREATE FUNCTION install_tally(
   of_resource text, identifier text, counted text[], sorted text[] DEFAULT '{}'
 ) RETURNS void LANGUAGE plpgsql
 -- For the counts of every combination.
 SET work_mem = '256MB' AS $install$
 DECLARE
   -- Named in full, since writers come with search paths of their own.
   home text := quote_ident(current_schema());
   resource text := home || '.' || quote_ident(of_resource);
   keep text := home || '.' || quote_ident('keep_' || of_resource || '_tally');
   operation text;
   -- The expression of each facet, by the name of its columns.
   facets jsonb := (
     SELECT jsonb_object_agg(element, expression) FROM (
       SELECT '' AS element, '''''' AS expression
       UNION ALL
       SELECT element, (
         SELECT quote_literal(element || '=') || string_agg(
           CASE WHEN at < count THEN format(' || length(object.%1$I::text) || '':'' || object.%1$I::text', name)
           ELSE format(' || object.%I::text', name) END, '' ORDER BY at)
         FROM (
           SELECT name, at, count(*) OVER () AS count
           FROM unnest(string_to_array(element, '+')) WITH ORDINALITY AS named(name, at)
         ) names
       )
       FROM unnest(counted) AS elements(element)
     ) every
   );
   -- The columns whose facets the tallies of sorted columns have, too.
   broad text[] := (
     SELECT coalesce(array_agg(attname::text), '{}') FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
     WHERE attrelid = resource::regclass AND attname = ANY(counted) AND (typtype = 'e' OR typname = 'bool')
   );
   sort text;
   tally text;
   deltas text;
   bounds text;
   faceted text;
   ranged text;
   orders integer := 0;
   -- Which orders a change moves an object in.
   compared text := '';
   tables text := '';
   insertions text := '';
   removals text := '';
   changes text := '';
 BEGIN
   PERFORM remove_tally(of_resource);
   -- No writer may come between the counting and the triggers.
   EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', resource);
   FOREACH sort IN ARRAY array_prepend('', sorted) LOOP
     tally := of_resource || '_tally' || CASE sort WHEN '' THEN '' ELSE '_by_' || sort END;
     IF octet_length(tally || '_deltas') > 63 THEN
       RAISE 'The name %_deltas of a tally is longer than 63 bytes', tally;
     END IF;
     deltas := home || '.' || quote_ident(tally || '_deltas');
     tally := home || '.' || quote_ident(tally);
     tables := tables || ', ' || tally || ', ' || deltas;
     orders := orders + 1;
     compared := compared || (
       SELECT format(', bool_or(ROW(%s) IS DISTINCT FROM ROW(%s))',
         string_agg(format('came.%I', name), ', '), string_agg(format('went.%I', name), ', '))
       FROM (
         SELECT DISTINCT unnest(CASE sort WHEN '' THEN string_to_array(array_to_string(counted, '+'), '+')
           ELSE broad || sort END || identifier) AS name
       ) names
     );
     -- The rows of a source by facet.
     faceted := (
       SELECT format('FROM %%s object CROSS JOIN LATERAL (VALUES %s) of(facet) WHERE of.facet IS NOT NULL',
         string_agg(format('(%s)', expression), ', '))
       FROM jsonb_each_text(facets) AS facet(element, expression)
       WHERE sort = '' OR element = '' OR element = ANY(broad)
     );
     IF sort = '' THEN
       bounds := 'lowest';
       -- Half empty pages, so that a fold finds room beside the row and leaves the index alone.
       EXECUTE format(
         'CREATE TABLE %s (
            facet text COLLATE "C", lowest text COLLATE "C", count bigint NOT NULL,
            PRIMARY KEY (facet, lowest)
          ) WITH (fillfactor = 50)', tally);
       -- Inside a statement of a trigger: the ranges as that sees them.
       ranged := format(
         'SELECT of.facet, coalesce((
            SELECT tally.lowest FROM %s tally
            WHERE tally.facet = of.facet AND tally.lowest <= object.%I
            ORDER BY tally.facet DESC, tally.lowest DESC LIMIT 1
          ), '''') AS lowest %s', tally, identifier, faceted);
     ELSE
       bounds := 'value, lowest';
       faceted := faceted || format(' AND object.%I IS NOT NULL', sort);
       EXECUTE format(
         'CREATE TABLE %s (
            facet text COLLATE "C" NOT NULL, value %s, lowest text COLLATE "C" NOT NULL, count bigint NOT NULL
          ) WITH (fillfactor = 50)', tally, (
           SELECT format_type(atttypid, atttypmod) || coalesce((
             SELECT format(' COLLATE %I.%I', nspname, collname)
             FROM pg_collation JOIN pg_namespace ON pg_namespace.oid = collnamespace
             WHERE pg_collation.oid = attcollation
           ), '')
           FROM pg_attribute WHERE attrelid = resource::regclass AND attname = sort
         ));
       EXECUTE format('CREATE UNIQUE INDEX ON %s (facet, value NULLS FIRST, lowest) NULLS NOT DISTINCT', tally);
       ranged := format(
         'SELECT facet, range.value, coalesce(range.lowest, '''') AS lowest FROM (
            SELECT of.facet, object.%1$I AS value, object.%2$I AS key %3$s
          ) faceted LEFT JOIN LATERAL (
            SELECT tally.value, tally.lowest FROM %4$s tally
            WHERE tally.facet = faceted.facet AND (tally.value, tally.lowest) <= (faceted.value, faceted.key)
            ORDER BY tally.facet DESC, tally.value DESC NULLS LAST, tally.lowest DESC LIMIT 1
          ) range ON true', sort, identifier, faceted, tally);
     END IF;
     EXECUTE format(
       'CREATE TABLE %s (LIKE %s) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)',
       deltas, tally);
     EXECUTE format('CREATE INDEX ON %s (facet, %s)', deltas, bounds);
     EXECUTE format(
       'INSERT INTO %s (facet, lowest, count) SELECT of.facet, '''', count(*) %s GROUP BY of.facet',
       tally, format(faceted, resource));
     insertions := insertions || format(
       'INSERT INTO %1$s SELECT facet, %2$s, count(*) FROM (%3$s) ranged GROUP BY facet, %2$s;
        ', deltas, bounds, format(ranged, 'new_rows'));
     removals := removals || format(
       'INSERT INTO %1$s SELECT facet, %2$s, -count(*) FROM (%3$s) ranged GROUP BY facet, %2$s;
        ', deltas, bounds, format(ranged, 'old_rows'));
     changes := changes || format(
       'IF changed[%5$s] THEN
          INSERT INTO %1$s SELECT facet, %2$s, sum(step) FROM (
            SELECT facet, %2$s, 1 AS step FROM (%3$s) came
            UNION ALL
            SELECT facet, %2$s, -1 FROM (%4$s) went
          ) moved GROUP BY facet, %2$s HAVING sum(step) <> 0;
        END IF;
        ', deltas, bounds, format(ranged, 'new_rows'), format(ranged, 'old_rows'), orders);
   END LOOP;
   INSERT INTO tallies (resource, identifier, counted, sorted)
   VALUES (of_resource, identifier, counted, sorted);
   EXECUTE format($function$
     -- With its owner's rights: who may write the resource need not be let near its tally.
     CREATE FUNCTION %1$s() RETURNS trigger LANGUAGE plpgsql
     SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
     DECLARE
       changed boolean[];
     BEGIN
       -- A snapshot from before the ranges were last cut would name ranges that are no more: with
       -- this the transaction is refused for serialization (40001), to be tried again.
       IF current_setting('transaction_isolation') <> 'read committed' THEN
         PERFORM FROM %7$s.tallies WHERE resource = %2$L FOR SHARE;
       END IF;
       IF TG_OP = 'INSERT' THEN
         IF NOT EXISTS (SELECT FROM new_rows) THEN RETURN NULL; END IF;
         %3$s
       ELSIF TG_OP = 'DELETE' THEN
         IF NOT EXISTS (SELECT FROM old_rows) THEN RETURN NULL; END IF;
         %4$s
       ELSIF TG_OP = 'UPDATE' THEN
         IF NOT EXISTS (SELECT FROM new_rows) THEN RETURN NULL; END IF;
         SELECT ARRAY[%8$s] INTO changed
         FROM new_rows came FULL JOIN old_rows went ON went.%9$I = came.%9$I;
         %5$s
       ELSE
         -- As the table itself: empty in every snapshot.
         TRUNCATE %6$s;
       END IF;
       INSERT INTO %7$s.resource_versions
       VALUES (%2$L, 1 + floor(random() * 4611686018427387904::numeric));
       RETURN NULL;
     END $body$ $function$,
     keep, of_resource, insertions, removals, changes, substr(tables, 3), home,
     substr(compared, 3), identifier);
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

/** For the next migration, which replaces them, to restore them. */
export const SORTED_TALLY_FUNCTIONS = [REMOVE_TALLY, INSTALL_TALLY];
