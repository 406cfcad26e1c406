import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Keeps the times of writes (`updatedAt`, `deletedAt`) from going behind the watermark when the
 * clock of the database is set back.
 *
 * `until` of the watermark is a moment M for which, in every snapshot that sees it, this is true: a
 * write that the snapshot does not see has a time of M or later. The proof in `FollowChanges` needs
 * a clock that goes back by less than a second. This one needs nothing of the clock.
 *
 * The sequence `watermark_floor` holds the minimum time of a write, in milliseconds since 1970. It
 * only grows. A sequence is not part of any transaction: each session reads its latest value,
 * whatever its snapshot and its isolation level.
 *
 * 1. A write asks for the id of its transaction first and reads the floor afterwards. Its time is
 *    that of the clock or the floor, the later of the two. A subtransaction has the id of the
 *    transaction that it belongs to.
 * 2. `advance_watermark` reads the floor, M, and only then gets an id X of its own. A transaction
 *    with an id above X got it after that, and by 1 reads the floor later still: all its times are M
 *    or later, since the floor only grows.
 * 3. M and X are stored, and a later call makes M the watermark, when the xmin of its snapshot is X
 *    or more: every transaction with an id below X, prepared ones included, has ended by then.
 *    A snapshot that sees this later call, on the primary or on a replica, sees what they wrote.
 * 4. The floor is set by `advance_watermark` alone, under the lock of the watermark's row, to the
 *    clock less a margin, and to a millisecond more than before at the minimum. So neither the floor
 *    nor the watermark ever goes back. While the clock is behind the floor both still move on, and a
 *    copy does not get the same changes over and over until the clock has caught up.
 *
 * The stored column rounds to milliseconds; M is a whole number of them, so that no time is rounded
 * to less. The commit that stores M is not asynchronous any more: a floor is on disk before a
 * client is told of it, and a crash does not take it back. A dump has the floor, read after its
 * snapshot was taken, so it is not behind the watermark beside it. Where only the schema was restored,
 * the floor has no value until the first call sets it.
 *
 * The margin of a second is for a failover that loses the last commits, the floor among them: there
 * the clock of the new primary must not be further behind. A transaction that has the table locked
 * for writing since before this migration may still run the old functions.
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
    await runner.query(installDeletions(BOUNDED));
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
 * SQL that gives the expression of a write's time, the schema named in full. To SELECT `last_value`
 * would double what the trigger costs a row; a call of this function costs hardly anything.
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

/** The function that keeps a resource's deletions, for `format` with the variables of `NAMES`. */
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

/** The functions of the resources that are there. Their tables stay as they are. */
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

/** As it was, but for the time and the function that takes it. */
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
