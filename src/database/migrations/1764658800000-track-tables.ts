import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets the service keep a tally and a version of a table of others, where its owner lets the service create
 * triggers there. It creates nothing else in that table, and changes nothing of it.
 *
 * - `track_table` creates the tally of a resource over such a table, or recreates it from the table. If there
 *   is no such table, it only records what the resource lists: a schema without the tables of others, such as
 *   that of a test, is migrated all the same, and the lists of this resource are then withheld.
 * - `untrack_table` removes its triggers with their function, and the tally.
 * - `untrackable` says why a table cannot be tracked, such as which privilege is missing; or why not any longer, for
 *   which the privilege to create triggers does not matter.
 * - `tracking_triggers` are the triggers that a table and its partitions need; `create_tracking_triggers` creates them.
 * - `tracking_of` describes the triggers as the database has them, and the columns that they read. `is_tracking_intact`
 *   compares that with what was recorded when the rows were counted. It is not after a trigger was disabled, also if it is
 *   enabled again: writes in between were not counted. Nor is it after DDL that gives rows other values and fires no
 *   trigger: a column that is dropped and added again, or gets another type, or a value of an enumeration that is renamed.
 *
 * Such a tally has the same two tables as any other, but each facet has one range only. Cutting ranges needs a lock for which
 * the service has no privilege.
 */
export class TrackTables1764658800000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  /** @throws QueryFailedError while a resource tracks a table of others */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `DO $do$ BEGIN
         IF EXISTS (SELECT FROM tallies WHERE tracked IS NOT NULL) THEN
           RAISE 'A resource tracks a table of others: %', (
             SELECT min(resource) FROM tallies WHERE tracked IS NOT NULL
           );
         END IF;
       END $do$`,
    );
    await runner.query(
      `DROP FUNCTION track_table(text, text, text, text[]), untrack_table(text), is_tracking_intact(text), tracking_of(text),
         create_tracking_triggers(text, text, text), tracking_triggers(text, text), untrackable(text, boolean),
         tracked_relations(text), relation_of(text)`,
    );
    await runner.query('ALTER TABLE "tallies" DROP "tracked", DROP "tracking"');
  }
}

/** The relation of a name, without a privilege on its schema; null if there is none. */
const RELATION_OF = `CREATE FUNCTION relation_of(of_table text) RETURNS oid LANGUAGE sql STABLE AS $relation$
   SELECT pg_class.oid FROM parse_ident(of_table) AS named(part)
   JOIN pg_namespace ON nspname = part[1]
   JOIN pg_class ON relnamespace = pg_namespace.oid AND relname = part[2]
 $relation$`;

/** The table and all its partitions: a statement fires the triggers of the table that it names. */
const TRACKED_RELATIONS = `CREATE FUNCTION tracked_relations(of_table text) RETURNS SETOF oid LANGUAGE sql STABLE AS $relations$
   WITH RECURSIVE tree AS (
     SELECT relation_of(of_table) AS relation
     UNION SELECT inhrelid FROM pg_inherits JOIN tree ON inhparent = relation
   )
   SELECT relation FROM tree WHERE relation IS NOT NULL ORDER BY relation
 $relations$`;

const UNTRACKABLE = `CREATE FUNCTION untrackable(of_table text, is_tracked boolean DEFAULT false) RETURNS text LANGUAGE plpgsql STABLE AS $untrackable$
 DECLARE
   root oid := relation_of(of_table);
   kind text;
   found text;
 BEGIN
   SELECT CASE relkind
       WHEN 'v' THEN 'a view' WHEN 'm' THEN 'a materialized view' WHEN 'f' THEN 'a foreign table'
     END INTO kind FROM pg_class WHERE oid = root;
   IF root IS NULL THEN
     RETURN format('there is no table %s', of_table);
   ELSIF kind IS NOT NULL THEN
     RETURN format('%s is %s: only a table can be tracked', of_table, kind);
   ELSIF EXISTS (SELECT FROM pg_class WHERE oid = root AND relpersistence <> 'p') THEN
     RETURN format('%s is not logged: a crash empties it without a trigger', of_table);
   END IF;
   SELECT inhparent::regclass::text INTO found FROM pg_inherits WHERE inhrelid = root;
   IF found IS NOT NULL THEN
     RETURN format('%s is a part of %s, whose writes fire no trigger of it', of_table, found);
   ELSIF EXISTS (SELECT FROM pg_inherits JOIN pg_class ON oid = inhparent WHERE inhparent = root AND relkind = 'r') THEN
     RETURN format('other tables inherit from %s, and no index keeps identifiers unique in all', of_table);
   END IF;
   SELECT oid::regclass::text INTO found FROM pg_class
   WHERE oid IN (SELECT tracked_relations(of_table)) AND relkind = 'f' LIMIT 1;
   IF found IS NOT NULL THEN
     RETURN format('%s has the partition %s, a foreign table', of_table, found);
   ELSIF row_security_active(root) THEN
     RETURN format('row security hides rows of %s from the user %s, which a tally would count', of_table, current_user);
   ELSIF EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid IN (SELECT tracked_relations(of_table))) THEN
     RETURN format('a subscription writes to %s, and fires no trigger of a statement', of_table);
   END IF;
   SELECT string_agg(statement, '; ' ORDER BY statement DESC) INTO found FROM (
     SELECT DISTINCT format('GRANT USAGE ON SCHEMA %I TO %I', nspname, current_user) AS statement
     FROM pg_namespace JOIN pg_class ON relnamespace = pg_namespace.oid
     WHERE pg_class.oid IN (SELECT tracked_relations(of_table)) AND NOT has_schema_privilege(pg_namespace.oid, 'USAGE')
     UNION ALL
     SELECT format('GRANT %s ON %I.%I TO %I', string_agg(privilege, ', '), nspname, relname, current_user)
     FROM unnest(CASE WHEN is_tracked THEN '{SELECT}' ELSE '{SELECT,TRIGGER}' END::text[]) AS needed(privilege), pg_class
     JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE pg_class.oid IN (SELECT tracked_relations(of_table))
     AND NOT has_table_privilege(pg_class.oid, privilege)
     GROUP BY nspname, relname
   ) missing;
   IF found IS NOT NULL THEN
     RETURN format('the user %s may not track %s; its owner must run %s', current_user, of_table, found);
   END IF;
   RETURN NULL;
 END $untrackable$`;

/**
 * The triggers that call `keep_<resource>_tally` or `keep_<resource>_changes`, each as in CREATE TRIGGER from its time
 * to FOR EACH. `TRUNCATE` of a partitioned table also fires the triggers of its partitions.
 *
 * In a MERGE into a partitioned table that inserts a row and then updates others, PostgreSQL (18.4) passes the inserted
 * row in place of each updated one, unless the partition has a BEFORE ROW trigger. That is `route`, which never runs.
 */
const TRACKING_TRIGGERS = `CREATE FUNCTION tracking_triggers(of_table text, kept text)
 RETURNS TABLE (relation oid, operation text, definition text) LANGUAGE sql STABLE AS $triggers$
   SELECT oid, event, format(CASE event
       WHEN 'insert' THEN 'AFTER INSERT ON %s REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT'
       WHEN 'update' THEN 'AFTER UPDATE ON %s REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT'
       WHEN 'delete' THEN 'AFTER DELETE ON %s REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT'
       WHEN 'truncate' THEN
         CASE WHEN kept = 'tally' AND oid = root THEN 'AFTER' ELSE 'BEFORE' END || ' TRUNCATE ON %s FOR EACH STATEMENT'
       ELSE 'BEFORE INSERT ON %s FOR EACH ROW WHEN (false)' END, oid::regclass)
   FROM relation_of(of_table) AS root CROSS JOIN pg_class
   CROSS JOIN unnest('{insert,update,delete,truncate,route}'::text[]) AS event
   WHERE oid IN (SELECT tracked_relations(of_table)) AND CASE event
     WHEN 'truncate' THEN relkind = 'r' OR kept = 'tally' AND oid = root
     WHEN 'route' THEN relkind = 'r' AND kept = 'changes' AND oid <> root
     ELSE true END
   ORDER BY oid
 $triggers$`;

/** @param kept `tally` or `changes` */
const CREATE_TRACKING_TRIGGERS = `CREATE FUNCTION create_tracking_triggers(of_resource text, of_table text, kept text)
 RETURNS void LANGUAGE plpgsql AS $create$
 DECLARE
   wanted record;
   name text;
 BEGIN
   FOR wanted IN SELECT * FROM tracking_triggers(of_table, kept) LOOP
     name := format('%s_%s_%s', of_resource, kept, wanted.operation);
     EXECUTE format('CREATE OR REPLACE TRIGGER %I %s EXECUTE FUNCTION %I.%I()',
       name, wanted.definition, current_schema(), format('keep_%s_%s', of_resource, kept));
     -- Also for a writer whose session says that it replicates. It takes the owner of the table.
     IF (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = wanted.relation) THEN
       EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', wanted.relation::regclass, name);
     END IF;
   END LOOP;
 END $create$`;

/**
 * - `triggers`: every update of a row of the catalog gives it another xmin.
 * - `columns`: those that the triggers read, by name. Partitions follow the table.
 * - `labels`: the values of enumerations among these, by oid, which outlives a new name.
 */
const TRACKING_OF = `CREATE FUNCTION tracking_of(of_resource text) RETURNS jsonb LANGUAGE sql STABLE AS $tracking$
   WITH read_columns AS (
     SELECT attname, attnum, atttypid, attcollation FROM tallies JOIN pg_attribute ON attrelid = relation_of(tracked)
     WHERE resource = of_resource AND NOT attisdropped AND (
       attname = identifier OR attname = ANY(string_to_array(array_to_string(counted, '+'), '+'))
       OR attname IN (
         SELECT attname FROM pg_attribute
         WHERE attrelid = to_regclass(quote_ident(of_resource || '_tally_changes')) AND attnum > 0 AND NOT attisdropped
       )
     )
   )
   SELECT jsonb_build_object(
     'triggers', (
       SELECT jsonb_agg(concat_ws(':', relation, tgname, tgenabled, pg_trigger.xmin) ORDER BY relation, tgname)
       FROM tallies CROSS JOIN tracked_relations(tracked) AS relation
       LEFT JOIN pg_trigger ON tgrelid = relation AND tgfoid IN (
         to_regprocedure(format('%I.%I()', current_schema(), 'keep_' || of_resource || '_tally')),
         to_regprocedure(format('%I.%I()', current_schema(), 'keep_' || of_resource || '_changes'))
       )
       WHERE resource = of_resource
     ),
     'columns', (SELECT jsonb_object_agg(attname, concat_ws(':', attnum, atttypid, attcollation)) FROM read_columns),
     'labels', (
       SELECT jsonb_object_agg(pg_enum.oid, enumlabel) FROM pg_enum WHERE enumtypid IN (SELECT atttypid FROM read_columns)
     )
   )
 $tracking$`;

/** Values that an enumeration has gained do not matter, as no row had them. */
const IS_TRACKING_INTACT = `CREATE FUNCTION is_tracking_intact(of_resource text) RETURNS boolean LANGUAGE sql STABLE AS $intact$
   SELECT coalesce(tracking - 'labels' = found - 'labels' AND (
     tracking -> 'labels' = 'null' OR tracking -> 'labels' <@ (found -> 'labels')
   ), false)
   FROM tallies CROSS JOIN tracking_of(resource) AS found WHERE resource = of_resource
 $intact$`;

const TRACK_TABLE = `CREATE FUNCTION track_table(of_resource text, of_table text, identifier text, counted text[] DEFAULT '{}')
 RETURNS void LANGUAGE plpgsql SET work_mem = '256MB' AS $track$
 DECLARE
   home text := quote_ident(current_schema());
   root oid := relation_of(of_table);
   reason text := CASE WHEN root IS NOT NULL THEN untrackable(of_table) END;
   keep text := home || '.' || quote_ident('keep_' || of_resource || '_tally');
   tally text := home || '.' || quote_ident(of_resource || '_tally');
   deltas text := home || '.' || quote_ident(of_resource || '_tally_deltas');
   elements text[] := ''::text || counted;
   names text[] := string_to_array(array_to_string(counted, '+'), '+');
   columns text := (SELECT string_agg(DISTINCT ', ' || quote_ident(name), '') FROM unnest(names) name);
   uncounted text;
   key_type text := 'text COLLATE "C"';
   first_key text := '''''';
   -- Of the rows of a source, by facet.
   sums text;
 BEGIN
   IF reason IS NOT NULL THEN
     RAISE '%', reason USING ERRCODE = 'object_not_in_prerequisite_state';
   ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
     RAISE 'track_table counts what others have written before it locks the table: use READ COMMITTED';
   ELSIF EXISTS (SELECT FROM tallies WHERE resource = of_resource AND tracked IS NULL) THEN
     RAISE 'The resource % has a table of its own', of_resource;
   ELSIF octet_length(of_resource) > 63 - length('_tally_truncate') THEN
     RAISE 'The name % is too long for that of a tally', of_resource;
   END IF;
   IF root IS NOT NULL THEN
     SELECT format_type(atttypid, NULL) || CASE typcategory WHEN 'S' THEN ' COLLATE ' || (
         SELECT oid::regcollation FROM pg_collation WHERE oid = attcollation
       ) ELSE '' END,
       least_identifier(CASE typcategory WHEN 'S' THEN 'text COLLATE "C"' ELSE format_type(atttypid, NULL) END)
     INTO key_type, first_key
     FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid WHERE attrelid = root AND attname = identifier;
     IF first_key IS NULL THEN
       RAISE '% has no column % that is a text, an integer, a bigint or a uuid', of_table, identifier;
     END IF;
     SELECT attname INTO uncounted FROM pg_attribute LEFT JOIN pg_collation ON pg_collation.oid = attcollation
     WHERE attrelid = root AND attname = ANY(names)
     AND (atttypid = 'bpchar'::regtype OR NOT collisdeterministic);
     IF FOUND THEN
       RAISE 'The column % of % cannot be counted: different texts are equal in it', uncounted, of_table;
     END IF;
   END IF;
   -- Triggers of a former partition, or of another table, go with their function: dropping them alone takes
   -- the owner of their table.
   IF EXISTS (
     SELECT FROM pg_trigger WHERE tgfoid = to_regprocedure(keep || '()')
     AND tgrelid NOT IN (SELECT tracked_relations(of_table))
   ) THEN
     PERFORM untrack_table(of_resource);
   END IF;
   sums := format(
     'INSERT INTO %s (facet, lowest, count) SELECT facet, %s, total FROM (%%s) sums', deltas, first_key);
   EXECUTE format($function$
     -- With its owner's rights: who may write the table need not be let near its tally.
     CREATE OR REPLACE FUNCTION %1$s() RETURNS trigger LANGUAGE plpgsql
     SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
     BEGIN
       IF TG_OP = 'INSERT' THEN
         IF NOT EXISTS (SELECT FROM new_rows) THEN RETURN NULL; END IF;
         %3$s;
       ELSIF TG_OP = 'DELETE' THEN
         IF NOT EXISTS (SELECT FROM old_rows) THEN RETURN NULL; END IF;
         %4$s;
       ELSIF TG_OP = 'UPDATE' THEN
         IF NOT EXISTS (SELECT FROM new_rows) THEN RETURN NULL; END IF;
         %5$s;
       ELSIF TG_WHEN = 'BEFORE' THEN
         -- Of one partition. It empties that of more than an older snapshot shows.
         IF current_setting('transaction_isolation') <> 'read committed' THEN
           RAISE 'TRUNCATE of a partition would not count every row' USING
             ERRCODE = 'serialization_failure', HINT = 'Use READ COMMITTED, or DELETE.';
         END IF;
         EXECUTE replace(%6$L, '@relation', TG_RELID::regclass::text);
       ELSE
         -- As the table itself: empty in every snapshot.
         TRUNCATE %7$s, %8$s;
       END IF;
       INSERT INTO %9$s.resource_versions
       VALUES (%2$L, 1 + floor(random() * 4611686018427387904::numeric));
       RETURN NULL;
     END $body$ $function$,
     keep, of_resource,
     format(sums, tally_sums(elements, format('(SELECT 1 AS "#step"%s FROM new_rows) object', columns))),
     format(sums, tally_sums(elements, format('(SELECT -1 AS "#step"%s FROM old_rows) object', columns))),
     -- The number of all objects stays.
     CASE counted WHEN '{}' THEN 'NULL' ELSE format(sums, tally_sums(elements, format(
       '(SELECT 1 AS "#step"%1$s FROM new_rows UNION ALL SELECT -1%1$s FROM old_rows) object', columns))) END,
     format(sums, tally_sums(elements, format('(SELECT -1 AS "#step"%s FROM @relation) object', columns))),
     tally, deltas, home);
   -- They lock the table: no writer comes between them and the counting. Then the tally, as writers do.
   PERFORM create_tracking_triggers(of_resource, of_table, 'tally');
   EXECUTE format('DROP TABLE IF EXISTS %s, %s', deltas, tally);
   -- Half empty pages, so that a fold finds room beside the row and leaves the index alone.
   EXECUTE format(
     'CREATE TABLE %s (
        facet text COLLATE "C", lowest %s, count bigint NOT NULL, PRIMARY KEY (facet, lowest)
      ) WITH (fillfactor = 50)', tally, key_type);
   EXECUTE format(
     'CREATE TABLE %s (LIKE %s) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)',
     deltas, tally);
   EXECUTE format('CREATE INDEX ON %s (facet, lowest)', deltas);
   IF root IS NOT NULL THEN
     EXECUTE format(sums, tally_sums(elements, format('(SELECT 1 AS "#step"%s FROM %s) object', columns, root::regclass)));
   END IF;
   DELETE FROM tallies WHERE resource = of_resource;
   INSERT INTO tallies (resource, identifier, counted, tracked) VALUES (of_resource, identifier, counted, of_table);
   UPDATE tallies SET tracking = tracking_of(of_resource) WHERE resource = of_resource;
   INSERT INTO resource_versions
   VALUES (of_resource, 1 + floor(random() * 4611686018427387904::numeric));
 END $track$`;

export const UNTRACK_TABLE = `CREATE FUNCTION untrack_table(of_resource text) RETURNS void LANGUAGE plpgsql
 -- It names the triggers that go with their function.
 SET client_min_messages = warning AS $untrack$
 BEGIN
   IF EXISTS (SELECT FROM tallies WHERE resource = of_resource AND tracked IS NULL) THEN
     RAISE 'The resource % has a table of its own', of_resource;
   END IF;
   EXECUTE format('DROP FUNCTION IF EXISTS %I() CASCADE', 'keep_' || of_resource || '_tally');
   EXECUTE format('DROP TABLE IF EXISTS %I, %I', of_resource || '_tally_deltas', of_resource || '_tally');
   DELETE FROM tallies WHERE resource = of_resource;
   DELETE FROM resource_versions WHERE resource = of_resource;
 END $untrack$`;

const STATEMENTS = [
  // The table of others in SQL; null for a resource with a table of its own. What it was when it was counted.
  'ALTER TABLE "tallies" ADD "tracked" text, ADD "tracking" jsonb',
  RELATION_OF,
  TRACKED_RELATIONS,
  UNTRACKABLE,
  TRACKING_TRIGGERS,
  CREATE_TRACKING_TRIGGERS,
  TRACKING_OF,
  IS_TRACKING_INTACT,
  TRACK_TABLE,
  UNTRACK_TABLE,
];
