import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Bounds what a lookup of versions and of the watermark reads. Rows that maintenance has deleted or updated stay
 * in their table and its indexes while a transaction with an older snapshot is open, and every scan of their
 * range visits them. Each lookup now reads an index from its newest end.
 *
 * `fold_versions` replaces the stamps of a resource by a checkpoint: a row with their sum, and with the snapshot
 * in which they were visible as `folded_in`. Each row has the id of the transaction that wrote it as `writer`.
 * `resource_version` reads the latest checkpoint, and rows whose writer its snapshot does not show. Proof that it
 * misses none:
 *
 * 1. Let a reader see the checkpoint, and another row of the resource. If the snapshot of the checkpoint showed
 *    the writer, it showed the row. The statement that inserted the checkpoint deleted all rows that its snapshot
 *    showed, and the reader sees this transaction. So the reader would not see the row.
 * 2. A snapshot does not show a transaction if its id is not below `xmax` of the snapshot, or is one of `xip`. A
 *    transaction that takes long costs a lookup of its id, and no scan.
 * 3. `fold_versions` reads as `resource_version` does. So by induction it deletes all rows that its snapshot
 *    shows. An advisory lock keeps two of them from running at a time.
 *
 * The ids in a restored dump are those of another cluster. A checkpoint there has not been written by the
 * transaction that it names: its `xmin` differs, or the id is one of the future. All rows are then read until
 * maintenance writes a checkpoint of this cluster. Should `xmin` be the same by chance, then all later ids are
 * above it, as in the former cluster.
 *
 * The version is still the sum of all stamps. Instances of an older release read and fold the table as before;
 * their sum is a row without a checkpoint.
 */
export class SkipFoldedRows1764651600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In two steps. One would write the table anew, and older snapshots would find it empty.
    await runner.query(
      `ALTER TABLE "resource_versions"
         ADD "writer" xid8 NOT NULL DEFAULT '0', ADD "folded_in" pg_snapshot`,
    );
    await runner.query(
      'ALTER TABLE "resource_versions" ALTER "writer" SET DEFAULT pg_current_xact_id()',
    );
    await runner.query(
      'CREATE INDEX "resource_versions_writer" ON "resource_versions" ("resource", "writer")',
    );
    await runner.query(
      `CREATE INDEX "resource_versions_checkpoint" ON "resource_versions" ("resource", "writer")
       WHERE "folded_in" IS NOT NULL`,
    );
    await runner.query('DROP INDEX "resource_versions_resource"');
    await runner.query('CREATE INDEX "watermark_next_id" ON "watermark" ("next_id")');
    for (const statement of FUNCTIONS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'DROP FUNCTION resource_version(text[]), fold_versions(text), current_watermark()',
    );
    await runner.query('DROP INDEX "watermark_next_id"');
    await runner.query(
      'CREATE INDEX "resource_versions_resource" ON "resource_versions" ("resource")',
    );
    // A checkpoint is the sum of its stamps, as the rows that earlier releases fold. Its indexes go with it.
    await runner.query('ALTER TABLE "resource_versions" DROP "writer", DROP "folded_in"');
  }
}

/**
 * While these tables are small, the planner prefers a sequential scan, and a session keeps that plan when they
 * have grown.
 */
const BY_INDEX = 'SET enable_seqscan = off SET plan_cache_mode = force_generic_plan';

/** Reads the checkpoint of `of_resource`, and which writers have rows besides those that it replaces. */
const READ_CHECKPOINT = `SELECT writer, folded_in INTO checkpoint FROM resource_versions
     WHERE resource = of_resource AND folded_in IS NOT NULL
     -- Not of another cluster.
     AND writer::xid = xmin AND writer < pg_snapshot_xmax(pg_current_snapshot())
     ORDER BY writer DESC LIMIT 1;
     -- The checkpoint itself is among them. All rows, if there is none.
     since := coalesce(least(checkpoint.writer, pg_snapshot_xmax(checkpoint.folded_in)), '0');
     late := ARRAY(SELECT pg_snapshot_xip(checkpoint.folded_in));`;

const FUNCTIONS = [
  // It must be STABLE, to read in the snapshot of the statement that calls it.
  `CREATE FUNCTION resource_version(resources text[]) RETURNS numeric
   LANGUAGE plpgsql STABLE PARALLEL RESTRICTED ${BY_INDEX} AS $version$
   DECLARE
     of_resource text;
     checkpoint record;
     since xid8;
     late xid8[];
     stamps numeric;
     version numeric;
   BEGIN
     FOREACH of_resource IN ARRAY resources LOOP
     ${READ_CHECKPOINT}
       stamps := (SELECT sum(stamp) FROM resource_versions WHERE resource = of_resource AND writer >= since);
       version := coalesce(version + stamps, stamps, version);
       IF late[1] < since THEN
         version := coalesce(version, 0) + (
           SELECT coalesce(sum(stamp), 0) FROM resource_versions
           WHERE resource = of_resource AND writer = ANY(late) AND writer < since
         );
       END IF;
     END LOOP;
     RETURN version;
   END $version$`,
  `CREATE FUNCTION fold_versions(of_resource text) RETURNS void
   LANGUAGE plpgsql ${BY_INDEX} AS $fold$
   DECLARE
     checkpoint record;
     since xid8;
     late xid8[];
   BEGIN
     ${READ_CHECKPOINT}
     -- One statement, hence one snapshot.
     WITH visible AS MATERIALIZED (
       SELECT ctid AS id FROM resource_versions
       WHERE resource = of_resource AND (writer >= since OR writer = ANY(late))
     ), deleted AS (
       DELETE FROM resource_versions WHERE ctid = ANY(ARRAY(SELECT id FROM visible))
       AND (SELECT checkpoint.writer IS NULL OR count(*) > 1 FROM visible)
       RETURNING stamp
     )
     INSERT INTO resource_versions (resource, stamp, folded_in)
     SELECT of_resource, sum(stamp), pg_current_snapshot() FROM deleted HAVING count(*) > 0;
   END $fold$`,
  `CREATE FUNCTION current_watermark() RETURNS timestamptz
   LANGUAGE plpgsql STABLE PARALLEL RESTRICTED ${BY_INDEX} AS $watermark$
   BEGIN
     -- There is one row. In this order its index has the earlier versions of the row behind it.
     RETURN (SELECT until FROM watermark ORDER BY next_id DESC LIMIT 1);
   END $watermark$`,
];
