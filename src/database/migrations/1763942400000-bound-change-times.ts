import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Prevents the times of writes (`updatedAt`, `deletedAt`) from falling behind the watermark when the
 * clock of the database is set back.
 *
 * The watermark, `until`, is a time M with this property, in every snapshot that contains it: a write
 * that the snapshot does not contain has a time of M or later. The proof in `FollowChanges` requires
 * that the clock is never set back by a second or more. This proof requires nothing of the clock.
 *
 * The sequence `watermark_floor` holds the minimum time of a write, in milliseconds since 1970. It
 * only grows. Sequences are not transactional: each session reads the latest value, independent of
 * its snapshot and isolation level.
 *
 * 1. A write first requests the id of its transaction, and then reads the floor. Its time is the
 *    later one of the clock and the floor. A subtransaction has the id of its top-level transaction.
 * 2. `advance_watermark` reads M from the floor, and then requests its own transaction id X. A
 *    transaction with an id above X got its id later, and by 1 reads the floor even later. The floor
 *    only grows, so all its times are M or later.
 * 3. M and X are stored. A later call, whose snapshot has an xmin of X or more, makes M the
 *    watermark. By then, every transaction with an id below X has ended, prepared ones included. A
 *    snapshot that contains this later call, on the primary or on a replica, contains their writes.
 * 4. Only `advance_watermark` sets the floor, under the lock of the watermark's row: to the clock
 *    minus a margin, and at minimum to one millisecond more than before. So neither the floor nor
 *    the watermark decreases. Both advance even while the clock is behind the floor, so that a client
 *    that keeps a copy does not receive the same changes again and again.
 *
 * The column rounds to milliseconds. M is a whole number of milliseconds, so no time is rounded below
 * it. The commit that stores M is now synchronous: the floor is on disk before a client sees M, and
 * survives a crash. A dump reads the floor after its snapshot, so the floor is not behind the dumped
 * watermark. If only the schema was restored, the floor has no value until the first call sets it.
 *
 * The margin of one second is for a failover that loses the last commits, including the floor. In
 * that case the clock of the new primary must not be further behind than the margin. A transaction
 * that has locked the table for writing since before this migration may still run the old functions.
 */
export class BoundChangeTimes1763942400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE SEQUENCE "watermark_floor"');
    await runner.query(
      `SELECT setval('watermark_floor',
         ${milliseconds(`greatest(until, next_until, clock_timestamp() - interval '1 second')`)}
       ) FROM watermark`,
    );
    await runner.query(
      `DO $do$ BEGIN
         EXECUTE format($function$
           CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql
           SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
           BEGIN
             -- In this order: see the watermark.
             PERFORM pg_current_xact_id();
             NEW."updatedAt" := %s;
             RETURN NEW;
           END $body$ $function$,
           quote_ident(current_schema()) || '.keep_updated_at', ${BOUNDED});
       END $do$`,
    );
    await runner.query(INSTALL_DELETIONS);
    await runner.query(replaceKeepDeletions(BOUNDED));
    await runner.query(ADVANCE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(ADVANCE_BY_CLOCK);
    await runner.query(replaceKeepDeletions(`'clock_timestamp()'`));
    await runner.query(installDeletions(`'clock_timestamp()'`));
    await runner.query(
      `CREATE OR REPLACE FUNCTION "keep_updated_at"() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN
         -- In this order: see the watermark.
         PERFORM pg_current_xact_id();
         NEW."updatedAt" := clock_timestamp();
         RETURN NEW;
       END $$`,
    );
    await runner.query('DROP SEQUENCE "watermark_floor"');
  }
}

function milliseconds(time: string): string {
  return `floor(extract(epoch FROM ${time}) * 1000)::bigint`;
}

/**
 * SQL that returns the expression for the time of a write, with a qualified sequence name. It calls
 * `pg_sequence_last_value`, since `SELECT last_value` doubles the cost of the trigger per row.
 */
const BOUNDED = `format(
  'greatest(clock_timestamp(), to_timestamp(pg_sequence_last_value(%L::regclass) / 1000::float8))',
  quote_ident(current_schema()) || '.watermark_floor')`;

const ADVANCE = `CREATE OR REPLACE FUNCTION advance_watermark(margin interval DEFAULT '1 second') RETURNS void
   LANGUAGE plpgsql AS $advance$
   DECLARE
     moment timestamptz := to_timestamp(pg_sequence_last_value('watermark_floor') / 1000::float8);
     id xid8;
     published timestamptz;
   BEGIN
     IF pg_current_xact_id_if_assigned() IS NOT NULL THEN
       RAISE 'advance_watermark must be the first that its transaction writes';
     END IF;
     -- After the floor was read.
     id := pg_current_xact_id();
     UPDATE watermark SET
       until = CASE WHEN next_id <= pg_snapshot_xmin(pg_current_snapshot())
         THEN greatest(until, next_until) ELSE until END,
       next_until = moment,
       next_id = id
     -- An id of the future is that of another cluster, from which this one was restored.
     WHERE next_id IS NULL OR next_id <= pg_snapshot_xmin(pg_current_snapshot()) OR next_id > id
     RETURNING until INTO published;
     IF FOUND THEN
       PERFORM setval('watermark_floor', greatest(
         ${milliseconds('clock_timestamp() - margin')},
         pg_sequence_last_value('watermark_floor') + 1,
         -- Where the watermark was restored without the sequence.
         ${milliseconds('published')}
       ));
     END IF;
   END $advance$`;

const ADVANCE_BY_CLOCK = `CREATE OR REPLACE FUNCTION advance_watermark(margin interval DEFAULT '1 second') RETURNS void
   LANGUAGE plpgsql AS $advance$
   DECLARE
     moment timestamptz := date_trunc('milliseconds', clock_timestamp() - margin);
     id xid8;
   BEGIN
     IF pg_current_xact_id_if_assigned() IS NOT NULL THEN
       RAISE 'advance_watermark must be the first that its transaction writes';
     END IF;
     -- Lost by a crash, it is merely older.
     PERFORM set_config('synchronous_commit', 'off', true);
     id := pg_current_xact_id();
     UPDATE watermark SET
       until = CASE WHEN next_id <= pg_snapshot_xmin(pg_current_snapshot()) THEN next_until ELSE until END,
       next_until = moment,
       next_id = id
     -- An id of the future is that of another cluster, from which this one was restored.
     WHERE next_id IS NULL OR next_id <= pg_snapshot_xmin(pg_current_snapshot()) OR next_id > id;
   END $advance$`;

/** Template for `format` of the trigger function that records the deletions of a resource. */
const KEEP_DELETIONS = `
   CREATE OR REPLACE FUNCTION %1$s() RETURNS trigger LANGUAGE plpgsql
   SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
   BEGIN
     -- Before the time is taken: see the watermark.
     PERFORM pg_current_xact_id();
     IF TG_OP = 'DELETE' THEN
       INSERT INTO %2$s SELECT %3$I, %5$s FROM old_rows
       ON CONFLICT (%3$I) DO UPDATE SET "deletedAt" = excluded."deletedAt";
     ELSIF TG_OP = 'UPDATE' THEN
       INSERT INTO %2$s VALUES (OLD.%3$I, %5$s)
       ON CONFLICT (%3$I) DO UPDATE SET "deletedAt" = excluded."deletedAt";
     ELSE
       -- It empties the table of more than an older snapshot shows.
       IF current_setting('transaction_isolation') <> 'read committed' THEN
         RAISE 'TRUNCATE would not tell of every deletion' USING
           ERRCODE = 'serialization_failure', HINT = 'Use READ COMMITTED, or DELETE.';
       END IF;
       INSERT INTO %2$s SELECT %3$I, %5$s FROM %4$s
       ON CONFLICT (%3$I) DO UPDATE SET "deletedAt" = excluded."deletedAt";
     END IF;
     RETURN NULL;
   END $body$ `;

/** Replaces the trigger functions of existing resources. Their tables do not change. */
function replaceKeepDeletions(time: string): string {
  return `DO $do$
   DECLARE
     home text := quote_ident(current_schema());
     tally record;
   BEGIN
     FOR tally IN SELECT resource, identifier FROM tallies
       WHERE to_regclass(home || '.' || quote_ident(resource || '_deletions')) IS NOT NULL
     LOOP
       EXECUTE format($function$${KEEP_DELETIONS}$function$,
         home || '.' || quote_ident('keep_' || tally.resource || '_deletions'),
         home || '.' || quote_ident(tally.resource || '_deletions'),
         tally.identifier,
         home || '.' || quote_ident(tally.resource),
         ${time});
     END LOOP;
   END $do$`;
}

/** `install_deletions` as before, except for the expression of the time. */
function installDeletions(time: string): string {
  return `CREATE OR REPLACE FUNCTION install_deletions(of_resource text, identifier text) RETURNS void
   LANGUAGE plpgsql AS $install$
   DECLARE
     home text := quote_ident(current_schema());
     resource text := home || '.' || quote_ident(of_resource);
     deletions text := home || '.' || quote_ident(of_resource || '_deletions');
     keep text := home || '.' || quote_ident('keep_' || of_resource || '_deletions');
     operation text;
   BEGIN
     PERFORM remove_deletions(of_resource);
     EXECUTE format(
       'CREATE TABLE %s (
          %I varchar(100) COLLATE "C" PRIMARY KEY, "deletedAt" timestamptz(3) NOT NULL
        )', deletions, identifier);
     EXECUTE format('CREATE INDEX ON %s ("deletedAt", %I)', deletions, identifier);
     EXECUTE format($function$${KEEP_DELETIONS}$function$,
       keep, deletions, identifier, resource, ${time});
     EXECUTE format(
       'CREATE TRIGGER %I AFTER DELETE ON %I REFERENCING OLD TABLE AS old_rows
        FOR EACH STATEMENT EXECUTE FUNCTION %s()', of_resource || '_deletions_delete', of_resource, keep);
     EXECUTE format(
       'CREATE TRIGGER %I AFTER UPDATE ON %I FOR EACH ROW WHEN (OLD.%3$I <> NEW.%3$I)
        EXECUTE FUNCTION %4$s()', of_resource || '_deletions_rename', of_resource, identifier, keep);
     EXECUTE format(
       'CREATE TRIGGER %I BEFORE TRUNCATE ON %I
        FOR EACH STATEMENT EXECUTE FUNCTION %s()', of_resource || '_deletions_truncate', of_resource, keep);
     -- Also for a writer whose session says that it replicates.
     FOREACH operation IN ARRAY '{delete,rename,truncate}'::text[] LOOP
       EXECUTE format(
         'ALTER TABLE %I ENABLE ALWAYS TRIGGER %I', of_resource, of_resource || '_deletions_' || operation);
     END LOOP;
   END $install$`;
}

export const INSTALL_DELETIONS = installDeletions(BOUNDED);
