import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds tallies, which make counts exact and offsets cheap. `install_tally` creates for a resource:
 *
 * - `<resource>_tally`: the number of objects by facet and range. A facet is `''` for all objects, or
 *   `type=DIGITAL` for those with one value of a counted column. A range is a range of identifiers,
 *   named by its lowest identifier; the first range is `''`.
 * - `<resource>_tally_deltas`: the changes since then. Each writing statement appends its deltas, so
 *   the sum of both tables is exact in every snapshot and writers do not block each other. Tally
 *   maintenance folds the deltas into the tally from time to time, and cuts its ranges again.
 * - a random stamp in `resource_versions` for each writing statement. The sum of the stamps is the
 *   version of the resource: it differs between any two states, also after a restore.
 */
export class KeepTallies1763769600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
    // Writers may have any search path. A restore of data only has an empty one.
    await runner.query('ALTER FUNCTION "keep_product_words"() SET search_path FROM CURRENT');
    await runner.query(`SELECT install_tally('brands', 'brandID', '{}')`);
    await runner.query(`SELECT install_tally('categories', 'categoryID', '{}')`);
    await runner.query(
      `SELECT install_tally('products', 'productID', '{type,categoryID,brandID}')`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER FUNCTION "keep_product_words"() RESET search_path');
    await runner.query('SELECT remove_tally(resource) FROM tallies');
    await runner.query('DROP FUNCTION install_tally(text, text, text[]), remove_tally(text)');
    await runner.query('DROP TABLE "tallies", "resource_versions"');
  }
}

const REMOVE_TALLY = `CREATE FUNCTION remove_tally(of_resource text) RETURNS void LANGUAGE plpgsql AS $remove$
 DECLARE
   operation text;
 BEGIN
   FOREACH operation IN ARRAY '{insert,update,delete,truncate}'::text[] LOOP
     EXECUTE format('DROP TRIGGER IF EXISTS %I ON %I', of_resource || '_tally_' || operation, of_resource);
   END LOOP;
   EXECUTE format('DROP FUNCTION IF EXISTS %I()', 'keep_' || of_resource || '_tally');
   EXECUTE format('DROP TABLE IF EXISTS %I, %I', of_resource || '_tally', of_resource || '_tally_deltas');
   DELETE FROM tallies WHERE resource = of_resource;
   DELETE FROM resource_versions WHERE resource = of_resource;
 END $remove$`;

// The statements of the triggers are static text for each resource, so that a session plans them
// once. An object whose counted column is null has no facet for it: NULL || text is NULL.
const INSTALL_TALLY = `CREATE FUNCTION install_tally(of_resource text, identifier text, counted text[]) RETURNS void
 LANGUAGE plpgsql AS $install$
 DECLARE
   -- Named in full, since writers come with search paths of their own.
   home text := quote_ident(current_schema());
   tally text := home || '.' || quote_ident(of_resource || '_tally');
   deltas text := home || '.' || quote_ident(of_resource || '_tally_deltas');
   keep text := home || '.' || quote_ident('keep_' || of_resource || '_tally');
   operation text;
   facets text := (
     SELECT string_agg(facet, ', ' ORDER BY at) FROM (
       SELECT 0 AS at, '('''')' AS facet
       UNION ALL
       SELECT at, format('(%L || object.%I::text)', name || '=', name)
       FROM unnest(counted) WITH ORDINALITY AS named(name, at)
     ) every
   );
   columns text := (
     SELECT string_agg(quote_ident(name), ', ')
     FROM unnest(array_prepend(identifier, counted)) AS named(name)
   );
   -- The rows of a source by facet and range. Inside a statement of a trigger: as that sees them.
   ranged text := format(
     'SELECT of.facet, coalesce((
        SELECT tally.lowest FROM %s tally
        WHERE tally.facet = of.facet AND tally.lowest <= object.%I
        ORDER BY tally.facet DESC, tally.lowest DESC LIMIT 1
      ), '''') AS lowest
      FROM %%s object CROSS JOIN LATERAL (VALUES %s) of(facet) WHERE of.facet IS NOT NULL',
     tally, identifier, facets);
 BEGIN
   PERFORM remove_tally(of_resource);
   -- No writer may come between the counting and the triggers.
   EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', of_resource);
   -- Half empty pages, so that a fold finds room beside the row and leaves the index alone.
   EXECUTE format(
     'CREATE TABLE %s (
        facet text COLLATE "C", lowest text COLLATE "C", count bigint NOT NULL,
        PRIMARY KEY (facet, lowest)
      ) WITH (fillfactor = 50)', tally);
   EXECUTE format(
     'CREATE TABLE %s (
        facet text COLLATE "C" NOT NULL, lowest text COLLATE "C" NOT NULL, count bigint NOT NULL
      ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)', deltas);
   EXECUTE format('CREATE INDEX ON %s (facet, lowest)', deltas);
   EXECUTE format(
     'INSERT INTO %s SELECT facet, '''', count(*) FROM (%s) ranged GROUP BY facet',
     tally, format(ranged, quote_ident(of_resource)));
   INSERT INTO tallies VALUES (of_resource, identifier, counted);
   EXECUTE format($function$
     -- With its owner's rights: who may write the resource need not be let near its tally.
     CREATE FUNCTION %1$s() RETURNS trigger LANGUAGE plpgsql
     SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
     BEGIN
       -- A snapshot from before the ranges were last cut would name ranges that are no more: with
       -- this the transaction is refused for serialization (40001), to be tried again.
       IF current_setting('transaction_isolation') <> 'read committed' THEN
         PERFORM FROM %9$s.tallies WHERE resource = %2$L FOR SHARE;
       END IF;
       IF TG_OP = 'INSERT' THEN
         IF NOT EXISTS (SELECT FROM new_rows) THEN RETURN NULL; END IF;
         INSERT INTO %3$s SELECT facet, lowest, count(*)
         FROM (%5$s) ranged GROUP BY facet, lowest;
       ELSIF TG_OP = 'DELETE' THEN
         IF NOT EXISTS (SELECT FROM old_rows) THEN RETURN NULL; END IF;
         INSERT INTO %3$s SELECT facet, lowest, -count(*)
         FROM (%6$s) ranged GROUP BY facet, lowest;
       ELSIF TG_OP = 'UPDATE' THEN
         IF NOT EXISTS (SELECT FROM new_rows) THEN RETURN NULL; END IF;
         INSERT INTO %3$s SELECT facet, lowest, sum(step) FROM (
           SELECT facet, lowest, 1 AS step FROM (%7$s) came
           UNION ALL
           SELECT facet, lowest, -1 FROM (%8$s) went
         ) moved GROUP BY facet, lowest HAVING sum(step) <> 0;
       ELSE
         -- As the table itself: empty in every snapshot.
         TRUNCATE %4$s, %3$s;
       END IF;
       INSERT INTO %9$s.resource_versions
       VALUES (%2$L, 1 + floor(random() * 4611686018427387904::numeric));
       RETURN NULL;
     END $body$ $function$,
     keep, of_resource, deltas, tally,
     format(ranged, 'new_rows'),
     format(ranged, 'old_rows'),
     format(ranged, format('(SELECT %1$s FROM new_rows EXCEPT ALL SELECT %1$s FROM old_rows)', columns)),
     format(ranged, format('(SELECT %1$s FROM old_rows EXCEPT ALL SELECT %1$s FROM new_rows)', columns)),
     home);
   EXECUTE format(
     'CREATE TRIGGER %I AFTER INSERT ON %I REFERENCING NEW TABLE AS new_rows
      FOR EACH STATEMENT EXECUTE FUNCTION %s()', of_resource || '_tally_insert', of_resource, keep);
   EXECUTE format(
     'CREATE TRIGGER %I AFTER UPDATE ON %I REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
      FOR EACH STATEMENT EXECUTE FUNCTION %s()', of_resource || '_tally_update', of_resource, keep);
   EXECUTE format(
     'CREATE TRIGGER %I AFTER DELETE ON %I REFERENCING OLD TABLE AS old_rows
      FOR EACH STATEMENT EXECUTE FUNCTION %s()', of_resource || '_tally_delete', of_resource, keep);
   EXECUTE format(
     'CREATE TRIGGER %I AFTER TRUNCATE ON %I
      FOR EACH STATEMENT EXECUTE FUNCTION %s()', of_resource || '_tally_truncate', of_resource, keep);
   -- Also for a writer whose session says that it replicates.
   FOREACH operation IN ARRAY '{insert,update,delete,truncate}'::text[] LOOP
     EXECUTE format(
       'ALTER TABLE %I ENABLE ALWAYS TRIGGER %I', of_resource, of_resource || '_tally_' || operation);
   END LOOP;
   INSERT INTO resource_versions
   VALUES (of_resource, 1 + floor(random() * 4611686018427387904::numeric));
 END $install$`;

const STATEMENTS = [
  // One row for each resource with a tally. `cuts` counts how often its ranges were cut.
  `CREATE TABLE "tallies" (
     "resource" text COLLATE "C" PRIMARY KEY,
     "identifier" text NOT NULL,
     "counted" text[] NOT NULL,
     "cuts" bigint NOT NULL DEFAULT 0
   )`,
  `CREATE TABLE "resource_versions" (
     "resource" text COLLATE "C" NOT NULL,
     "stamp" numeric NOT NULL
   )`,
  'CREATE INDEX "resource_versions_resource" ON "resource_versions" ("resource")',
  REMOVE_TALLY,
  INSTALL_TALLY,
];

/** The functions as this migration creates them. A migration that replaces them restores them by these. */
export const TALLY_FUNCTIONS = [REMOVE_TALLY, INSTALL_TALLY];
