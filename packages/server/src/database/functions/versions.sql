-- The version of a resource is the sum of its stamps in resource_versions. It differs between any two states, also
-- after a restore, since stamps are random.
--
-- Rows that maintenance has deleted stay in their table and its indexes while a transaction with an older snapshot is
-- open, and every scan of their range visits them. So each lookup reads an index from its newest end.
--
-- fold_versions replaces the stamps of a resource by a checkpoint: a row with their sum, and with the snapshot in which
-- they were visible as folded_in. Each row has the id of the transaction that wrote it as writer. resource_version reads
-- the latest checkpoint, and the rows whose writer its snapshot does not show. Proof that it misses none:
--
-- 1. Let a reader see the checkpoint, and another row of the resource. If the snapshot of the checkpoint showed the
--    writer, it showed the row. The statement that inserted the checkpoint deleted all rows that its snapshot showed,
--    and the reader sees this transaction. So the reader would not see the row.
-- 2. A snapshot does not show a transaction if its id is not below xmax of the snapshot, or is one of xip. A transaction
--    that takes long costs a lookup of its id, and no scan.
-- 3. fold_versions reads as resource_version does. So by induction it deletes all rows that its snapshot shows. An
--    advisory lock keeps two of them from running at a time.
--
-- The ids in a restored dump are those of another cluster. A checkpoint there has not been written by the transaction
-- that it names: its xmin differs, or the id is one of the future. All rows are then read until maintenance writes a
-- checkpoint of this cluster. Should xmin be the same by chance, then all later ids are above it, as in the former cluster.
--
-- Settings of these functions: while the tables are small, the planner prefers a sequential scan, and a session keeps
-- that plan when they have grown. It also estimates few rows, which it would sort by a bitmap scan, and that visits the
-- deleted ones. Only a scan of an index in its order ends at the newest checkpoint.

-- The latest checkpoint of a resource. since and late: the writers that may have rows besides those that it replaces,
-- itself among them; all writers if there is none.
CREATE OR REPLACE FUNCTION version_checkpoint(of_resource text, OUT writer xid8, OUT since xid8, OUT late xid8[])
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS $$
DECLARE
  checkpoint record;
BEGIN
  SELECT stamped.writer, stamped.folded_in INTO checkpoint FROM resource_versions stamped
  WHERE resource = of_resource AND folded_in IS NOT NULL
  -- Not of another cluster.
  AND stamped.writer::xid = stamped.xmin AND stamped.writer < pg_snapshot_xmax(pg_current_snapshot())
  ORDER BY stamped.writer DESC LIMIT 1;
  writer := checkpoint.writer;
  since := coalesce(least(checkpoint.writer, pg_snapshot_xmax(checkpoint.folded_in)), '0');
  late := ARRAY(SELECT pg_snapshot_xip(checkpoint.folded_in));
END $$;

-- The sum of the versions of resources; null if none has one. It is STABLE, to read in the snapshot of the statement
-- that calls it.
CREATE OR REPLACE FUNCTION resource_version(resources text[]) RETURNS numeric
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  of_resource text;
  checkpoint record;
  stamps numeric;
  version numeric;
BEGIN
  FOREACH of_resource IN ARRAY resources LOOP
    checkpoint := version_checkpoint(of_resource);
    stamps := (
      SELECT sum(stamp) FROM resource_versions WHERE resource = of_resource AND writer >= checkpoint.since
    );
    version := coalesce(version + stamps, stamps, version);
    IF checkpoint.late[1] < checkpoint.since THEN
      version := coalesce(version, 0) + (
        SELECT coalesce(sum(stamp), 0) FROM resource_versions
        WHERE resource = of_resource AND writer = ANY(checkpoint.late) AND writer < checkpoint.since
      );
    END IF;
  END LOOP;
  RETURN version;
END $$;

-- Replaces the stamps of a resource by a checkpoint.
CREATE OR REPLACE FUNCTION fold_versions(of_resource text) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  checkpoint record := version_checkpoint(of_resource);
BEGIN
  -- One statement, hence one snapshot.
  WITH visible AS MATERIALIZED (
    SELECT ctid AS id FROM resource_versions
    WHERE resource = of_resource AND (writer >= checkpoint.since OR writer = ANY(checkpoint.late))
  ), deleted AS (
    DELETE FROM resource_versions WHERE ctid = ANY(ARRAY(SELECT id FROM visible))
    AND (SELECT checkpoint.writer IS NULL OR count(*) > 1 FROM visible)
    RETURNING stamp
  )
  INSERT INTO resource_versions (resource, stamp, folded_in)
  SELECT of_resource, sum(stamp), pg_current_snapshot() FROM deleted HAVING count(*) > 0;
END $$;
