import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds what a client needs to keep a copy of a resource: the watermark, before which no change is
 * missing, and the deletions.
 *
 * The watermark is a time M with this property, in every snapshot that contains it: a write that the
 * snapshot does not contain has a time (`updatedAt`, `deletedAt`) of M or later. Proof:
 *
 * 1. A write first requests the id of its transaction, and then reads its time from the clock. A
 *    subtransaction has the id of its top-level transaction.
 * 2. `advance_watermark` reads M from the clock, and then requests its own transaction id X. A
 *    transaction with an id above X got its id later. By 1, all its times are M or later.
 * 3. A later transaction, whose snapshot has an xmin of X or more, makes M the watermark. By then,
 *    every transaction with an id below X has ended, prepared ones included. A snapshot that
 *    contains this later transaction, on the primary or on a replica, contains their writes.
 *
 * M is one second behind the clock. This tolerates a clock that is set back by less than that, as
 * after a failover to another machine, and rounding to milliseconds. A restored dump contains an M
 * that held when the dump was made, before any write to the restored database.
 */
export class FollowChanges1763856000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
    await runner.query(`SELECT install_deletions('brands', 'brandID')`);
    await runner.query(`SELECT install_deletions('categories', 'categoryID')`);
    await runner.query(`SELECT install_deletions('products', 'productID')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('SELECT remove_deletions(resource) FROM tallies');
    await runner.query(
      'DROP FUNCTION install_deletions(text, text), remove_deletions(text), advance_watermark(interval)',
    );
    await runner.query('DROP TABLE "watermark"');
    await runner.query(
      'DROP INDEX "IDX_6c78a2264f5005083aa79cfea4", "IDX_c34db25a26b04c2e25fa629cf8"',
    );
    await runner.query(
      `CREATE OR REPLACE FUNCTION "keep_updated_at"() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN
         NEW."updatedAt" := now();
         RETURN NEW;
       END $$`,
    );
  }
}

const STATEMENTS = [
  `CREATE OR REPLACE FUNCTION "keep_updated_at"() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     -- In this order: see the watermark.
     PERFORM pg_current_xact_id();
     NEW."updatedAt" := clock_timestamp();
     RETURN NEW;
   END $$`,
  'CREATE INDEX "IDX_6c78a2264f5005083aa79cfea4" ON "brands" ("updatedAt", "brandID")',
  'CREATE INDEX "IDX_c34db25a26b04c2e25fa629cf8" ON "categories" ("updatedAt", "categoryID")',
  // One row: the watermark, and the next one, valid when every transaction below `next_id` has ended.
  `CREATE TABLE "watermark" (
     "until" timestamptz(3),
     "next_until" timestamptz(3),
     "next_id" xid8
   ) WITH (fillfactor = 10)`,
  'INSERT INTO "watermark" VALUES (NULL, NULL, NULL)',
  `CREATE FUNCTION advance_watermark(margin interval DEFAULT '1 second') RETURNS void
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
   END $advance$`,
  `CREATE FUNCTION remove_deletions(of_resource text) RETURNS void LANGUAGE plpgsql AS $remove$
   DECLARE
     operation text;
   BEGIN
     FOREACH operation IN ARRAY '{delete,rename,truncate}'::text[] LOOP
       EXECUTE format('DROP TRIGGER IF EXISTS %I ON %I', of_resource || '_deletions_' || operation, of_resource);
     END LOOP;
     EXECUTE format('DROP FUNCTION IF EXISTS %I()', 'keep_' || of_resource || '_deletions');
     EXECUTE format('DROP TABLE IF EXISTS %I', of_resource || '_deletions');
   END $remove$`,
  // An insert does not remove the deletion of its identifier. Instead, the list of deletions omits
  // identifiers that exist, which is right even if the inserting snapshot did not see the deletion.
  `CREATE FUNCTION install_deletions(of_resource text, identifier text) RETURNS void
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
     EXECUTE format($function$
       CREATE FUNCTION %1$s() RETURNS trigger LANGUAGE plpgsql
       SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
       BEGIN
         -- Before the clock is read: see the watermark.
         PERFORM pg_current_xact_id();
         IF TG_OP = 'DELETE' THEN
           INSERT INTO %2$s SELECT %3$I, clock_timestamp() FROM old_rows
           ON CONFLICT (%3$I) DO UPDATE SET "deletedAt" = excluded."deletedAt";
         ELSIF TG_OP = 'UPDATE' THEN
           INSERT INTO %2$s VALUES (OLD.%3$I, clock_timestamp())
           ON CONFLICT (%3$I) DO UPDATE SET "deletedAt" = excluded."deletedAt";
         ELSE
           -- It empties the table of more than an older snapshot shows.
           IF current_setting('transaction_isolation') <> 'read committed' THEN
             RAISE 'TRUNCATE would not tell of every deletion' USING
               ERRCODE = 'serialization_failure', HINT = 'Use READ COMMITTED, or DELETE.';
           END IF;
           INSERT INTO %2$s SELECT %3$I, clock_timestamp() FROM %4$s
           ON CONFLICT (%3$I) DO UPDATE SET "deletedAt" = excluded."deletedAt";
         END IF;
         RETURN NULL;
       END $body$ $function$, keep, deletions, identifier, resource);
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
   END $install$`,
];
