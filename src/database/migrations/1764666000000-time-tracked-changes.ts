import type { MigrationInterface, QueryRunner } from 'typeorm';
import { replaced } from '../replaced-parts.js';
import { UNTRACK_TABLE } from './1764658800000-track-tables.js';

/**
 * Keeps the times of changes, and the deletions, of a table of others in tables of the service. Adds an overload of
 * `track_table` with the columns of the scope. It calls the one with four arguments, then creates these tables. A
 * table that was tracked by the latter stays as it is, until this one tracks it.
 *
 * - `<resource>_tally_changes` has a row for each row of the table: when it was changed last. Rows that were there
 *   when tracking began count as changed at that time. The row of a deleted one stays until its deletion is removed, so
 *   that a trigger never reads the table, and the order of the triggers of one statement does not matter.
 * - `<resource>_deletions` is that of a resource with a table of its own; see `install_deletions`.
 *
 * Whoever tracks a table anew does not know what changed meanwhile: every row counts as changed then, and every row
 * with a recorded time that is no longer in the table as deleted.
 *
 * The times obey the rule of the watermark: see `BoundChangeTimes`.
 */
export class TimeTrackedChanges1764666000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  /** Tables stay tracked, without the times of their changes and without their deletions. */
  async down(runner: QueryRunner): Promise<void> {
    // Tracking that is broken must stay broken: the last statement would record it as intact.
    await runner.query(
      'UPDATE tallies SET tracking = NULL WHERE tracked IS NOT NULL AND NOT is_tracking_intact(resource)',
    );
    await runner.query(
      `DO $do$ DECLARE of_resource text; BEGIN
         FOR of_resource IN SELECT resource FROM tallies WHERE tracked IS NOT NULL LOOP
           PERFORM untime_changes(of_resource);
         END LOOP;
       END $do$`,
    );
    await runner.query(
      'DROP FUNCTION track_table(text, text, text, text[], text[]), untime_changes(text), recorded_columns(oid, text[])',
    );
    await runner.query(orReplaced(UNTRACK_TABLE));
    await runner.query(
      'UPDATE tallies SET tracking = tracking_of(resource) WHERE tracking IS NOT NULL',
    );
  }
}

function orReplaced(statement: string): string {
  return replaced(statement, ['CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION']);
}

const UNTIME_CHANGES = `CREATE FUNCTION untime_changes(of_resource text) RETURNS void LANGUAGE plpgsql
 -- It names the triggers that go with their function.
 SET client_min_messages = warning AS $untime$
 BEGIN
   EXECUTE format('DROP FUNCTION IF EXISTS %I() CASCADE', 'keep_' || of_resource || '_changes');
   EXECUTE format('DROP TABLE IF EXISTS %I, %I', of_resource || '_tally_changes', of_resource || '_deletions');
 END $untime$`;

/**
 * Definitions of columns as in CREATE TABLE, with the types of a table and without their lengths; an enumeration as
 * text: a change of these must not make the triggers fail. Without a table they are texts.
 */
const RECORDED_COLUMNS = `CREATE FUNCTION recorded_columns(of_table oid, names text[]) RETURNS text LANGUAGE sql STABLE AS $columns$
   SELECT string_agg(concat_ws(' ', quote_ident(name), CASE
       WHEN of_table IS NULL OR typtype = 'e' THEN 'text COLLATE "default"'
       ELSE format_type(atttypid, -1) || coalesce(' COLLATE ' || nullif(attcollation, 0)::regcollation::text, '') END),
     ', ' ORDER BY place)
   FROM unnest(names) WITH ORDINALITY AS part(name, place)
   LEFT JOIN pg_attribute ON attrelid = of_table AND attname = name AND NOT attisdropped
   LEFT JOIN pg_type ON pg_type.oid = atttypid
 $columns$`;

const TRACK_TABLE = `CREATE FUNCTION track_table(of_resource text, of_table text, identifier text, counted text[], scoped text[])
 RETURNS void LANGUAGE plpgsql SET work_mem = '256MB' SET client_min_messages = warning AS $track$
 DECLARE
   home text := quote_ident(current_schema());
   root oid := relation_of(of_table);
   keep_tally text := home || '.' || quote_ident('keep_' || of_resource || '_tally');
   keep text := home || '.' || quote_ident('keep_' || of_resource || '_changes');
   changes text := home || '.' || quote_ident(of_resource || '_tally_changes');
   deletions text := home || '.' || quote_ident(of_resource || '_deletions');
   key text := quote_ident(identifier);
   recorded text[] := identifier || array_remove(scoped, identifier);
   columns text := (SELECT string_agg(quote_ident(name), ', ' ORDER BY place)
     FROM unnest(recorded) WITH ORDINALITY AS part(name, place));
   lacking text;
   definitions text;
   -- Of the rows of a source, with the types of the columns that record them.
   selected text;
   renewed text := (SELECT string_agg(format('%1$I = excluded.%1$I', name), ', ')
     FROM unnest(recorded[2:] || '{changedAt}'::text[]) name);
   moment text := format(
     'greatest(clock_timestamp(), to_timestamp(pg_sequence_last_value(%L::regclass) / 1000::float8))',
     home || '.watermark_floor');
   -- Records the deletions of the rows of a source.
   deleted text;
   -- What an update has left, of identifiers and of what a scope compares.
   gone text;
   since timestamptz;
 BEGIN
   IF octet_length(of_resource) > 63 - length('_changes_truncate') THEN
     RAISE 'The name % is too long for those of its triggers', of_resource;
   END IF;
   -- The other track_table would untrack the table, and forget which rows there were.
   IF EXISTS (
     SELECT FROM pg_trigger WHERE tgfoid IN (to_regprocedure(keep_tally || '()'), to_regprocedure(keep || '()'))
     AND tgrelid NOT IN (SELECT tracked_relations(of_table))
   ) THEN
     EXECUTE format('DROP FUNCTION IF EXISTS %s(), %s() CASCADE', keep_tally, keep);
   END IF;
   -- It locks the table: nobody writes to it until the end of the transaction.
   PERFORM track_table(of_resource, of_table, identifier, counted);
   SELECT name INTO lacking FROM unnest(recorded) name
   WHERE root IS NOT NULL AND name NOT IN (SELECT attname FROM pg_attribute WHERE attrelid = root AND NOT attisdropped);
   IF FOUND THEN
     RAISE '% has no column %', of_table, lacking;
   END IF;
   definitions := recorded_columns(root, recorded);
   IF root IS NOT NULL OR to_regclass(changes) IS NULL THEN
     -- Those of columns of other types.
     IF (recorded_columns(to_regclass(changes), recorded), (SELECT count(*) FROM pg_attribute
         WHERE attrelid = to_regclass(changes) AND attnum > 0 AND NOT attisdropped)) <> (definitions, cardinality(recorded) + 1)
     THEN
       PERFORM untime_changes(of_resource);
     END IF;
     IF to_regclass(changes) IS NULL THEN
       EXECUTE format('CREATE TABLE %s (%s, "changedAt" timestamptz(3) NOT NULL, PRIMARY KEY (%s))',
         changes, definitions, key);
       EXECUTE format('CREATE INDEX ON %s ("changedAt", %s)', changes, key);
     END IF;
     IF to_regclass(deletions) IS NULL THEN
       EXECUTE format('CREATE TABLE %s (%s, "deletedAt" timestamptz(3) NOT NULL, UNIQUE NULLS NOT DISTINCT (%s))',
         deletions, definitions, columns);
       EXECUTE format('ALTER TABLE %s ALTER %s SET NOT NULL', deletions, key);
       EXECUTE format('CREATE INDEX ON %s ("deletedAt", %s)', deletions, key);
     END IF;
   END IF;
   IF root IS NULL THEN RETURN; END IF;
   selected := (SELECT string_agg(format('%I::%s', attname, format_type(atttypid, -1)), ', ' ORDER BY attnum)
     FROM pg_attribute WHERE attrelid = changes::regclass AND attname = ANY(recorded));
   deleted := format(
     'INSERT INTO %s (%s, "deletedAt") SELECT %2$s, @time FROM (@source) gone
      ON CONFLICT (%2$s) DO UPDATE SET "deletedAt" = excluded."deletedAt"', deletions, columns);
   gone := format('SELECT %1$s FROM old_rows EXCEPT SELECT %1$s FROM new_rows', selected);
   EXECUTE format($function$
     -- With its owner's rights: who writes to the table needs no privilege on these tables.
     CREATE OR REPLACE FUNCTION %1$s() RETURNS trigger LANGUAGE plpgsql
     SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
     DECLARE
       -- Not the name of a column.
       "#now" timestamptz;
     BEGIN
       IF TG_OP = 'INSERT' THEN
         IF NOT EXISTS (SELECT FROM new_rows) THEN RETURN NULL; END IF;
       ELSIF TG_OP IN ('UPDATE', 'DELETE') THEN
         IF NOT EXISTS (SELECT FROM old_rows) THEN RETURN NULL; END IF;
       END IF;
       -- Before the time is taken: see the watermark.
       PERFORM pg_current_xact_id();
       "#now" := %2$s;
       IF TG_OP IN ('INSERT', 'UPDATE') THEN
         -- Cascades of one statement may update a row twice.
         INSERT INTO %3$s (%4$s, "changedAt") SELECT DISTINCT ON (%6$s) %5$s, "#now" FROM new_rows
         ON CONFLICT (%6$s) DO UPDATE SET %7$s;
       END IF;
       IF TG_OP = 'UPDATE' THEN
         -- Most updates leave the identifier as it is.
         IF EXISTS (%8$s) THEN %9$s; END IF;
       ELSIF TG_OP = 'DELETE' THEN
         %10$s;
       ELSIF TG_OP = 'TRUNCATE' THEN
         -- It empties the table of more than an older snapshot shows.
         IF current_setting('transaction_isolation') <> 'read committed' THEN
           RAISE 'TRUNCATE would not tell of every deletion' USING
             ERRCODE = 'serialization_failure', HINT = 'Use READ COMMITTED, or DELETE.';
         END IF;
         EXECUTE replace(%11$L, '@relation', TG_RELID::regclass::text) USING "#now";
       END IF;
       RETURN NULL;
     END $body$ $function$,
     keep, moment, changes, columns, selected, key, renewed,
     gone,
     replace(replace(deleted, '@time', '"#now"'), '@source', gone),
     replace(replace(deleted, '@time', '"#now"'), '@source', format('SELECT %s FROM old_rows', selected)),
     replace(replace(deleted, '@time', '$1'), '@source', format('SELECT %s FROM @relation', selected)));
   PERFORM create_tracking_triggers(of_resource, of_table, 'changes');
   PERFORM pg_current_xact_id();
   EXECUTE 'SELECT ' || moment INTO since;
   EXECUTE replace(replace(deleted, '@time', '$1'), '@source', format(
     'SELECT %s FROM %s EXCEPT SELECT %s FROM %s', columns, changes, selected, root::regclass)) USING since;
   EXECUTE format('DELETE FROM %s', changes);
   EXECUTE format('INSERT INTO %s (%s, "changedAt") SELECT %s, $1 FROM %s', changes, columns, selected, root::regclass)
     USING since;
   UPDATE tallies SET tracking = tracking_of(of_resource) WHERE resource = of_resource;
 END $track$`;

const STATEMENTS = [
  UNTIME_CHANGES,
  RECORDED_COLUMNS,
  TRACK_TABLE,
  replaced(orReplaced(UNTRACK_TABLE), [
    `EXECUTE format('DROP FUNCTION IF EXISTS %I() CASCADE', 'keep_' || of_resource || '_tally');`,
    `PERFORM untime_changes(of_resource);
   EXECUTE format('DROP FUNCTION IF EXISTS %I() CASCADE', 'keep_' || of_resource || '_tally');`,
  ]),
];
