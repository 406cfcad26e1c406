-- The watermark, until, is a time M with this property, in every snapshot that contains it: a write that the snapshot
-- does not contain has a time (updatedAt, changedAt, deletedAt) of M or later. So a client that keeps a copy of a resource
-- misses no change. The proof requires nothing of the clock of the database, which may be set back.
--
-- The sequence watermark_floor holds the minimum time of a write, in milliseconds since 1970. It only grows. Sequences are
-- not transactional: each session reads the latest value, independent of its snapshot and isolation level.
--
-- 1. A write first requests the id of its transaction, and then reads the floor (write_time). Its time is the later one of
--    the clock and the floor. A subtransaction has the id of its top-level transaction.
-- 2. advance_watermark reads M from the floor, and then requests its own transaction id X. A transaction with an id above
--    X got its id later, and by 1 reads the floor even later. The floor only grows, so all its times are M or later.
-- 3. M and X are stored. A later call, whose snapshot has an xmin of X or more, makes M the watermark. By then, every
--    transaction with an id below X has ended, prepared ones included. A snapshot that contains this later call, on the
--    primary or on a replica, contains their writes.
-- 4. Only advance_watermark sets the floor, under the lock of the watermark's row: to the clock minus a margin, and at
--    minimum to one millisecond more than before. So neither the floor nor the watermark decreases. Both advance even
--    while the clock is behind the floor, so that a client does not receive the same changes again and again.
--
-- Times are rounded to milliseconds. M is a whole number of milliseconds, so no time is rounded below it. The commit that
-- stores M is synchronous: the floor is on disk before a client sees M, and survives a crash. A dump reads the floor after
-- its snapshot, so the floor is not behind the dumped watermark. If only the schema was restored, the floor has no value
-- until the first call sets it.
--
-- The margin of one second is for a failover that loses the last commits, including the floor. In that case the clock of
-- the new primary must not be further behind than the margin.
--
-- A failover and a restore can lose commits that clients have seen. So the watermark of the primary has a mark: the number
-- of the history of the database, and a position in the write-ahead log (WAL). Commits are lost from the end, in the order
-- of the WAL. So nothing that a client has seen is lost if its history has not ended before its position.
--
-- A. A commit is visible when it has been flushed, unless its session has synchronous_commit = off. So every commit that
--    a snapshot contains is before the flushed position, which is read after the snapshot was taken. What is inserted
--    and not flushed may be lost, and nobody has seen it.
-- B. advance_watermark begins a history: if there is none, and if the row was written in another timeline, by another
--    cluster, or in another database. It stores where the one before ended. Until then the primary gives no marks, so
--    that no mark of the former history has a position of the new one.
-- C. A server that was promoted has replayed the WAL up to where its timeline begins, and there its former history ends.
--    pg_last_wal_replay_lsn tells that until the server is started again. After a start, a restore, or several promotions
--    since the row was written, the end is not known. It is not before the position in the row: the row is there.

-- The time of a write, in the order that the proof requires: CASE evaluates its condition first. It is SQL, so that
-- PostgreSQL inlines it, and of the standard form, since its callers have search paths of their own. SELECT last_value
-- would double the cost of a trigger for each row.
CREATE OR REPLACE FUNCTION write_time() RETURNS timestamptz LANGUAGE sql VOLATILE
BEGIN ATOMIC
  SELECT CASE WHEN pg_current_xact_id() IS NOT NULL THEN
    greatest(clock_timestamp(), to_timestamp(pg_sequence_last_value('watermark_floor'::regclass) / 1000::float8))
  END;
END;

-- The trigger of each table with updatedAt, or with the column that its argument names. With its owner's rights: a writer
-- needs no privilege on the sequence.
DO $do$
BEGIN
  EXECUTE format($create$
    CREATE OR REPLACE FUNCTION keep_updated_at() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    BEGIN
      IF TG_NARGS = 0 THEN
        NEW."updatedAt" := %1$I.write_time();
      ELSE
        NEW := jsonb_populate_record(NEW, jsonb_build_object(TG_ARGV[0], %1$I.write_time()));
      END IF;
      RETURN NEW;
    END $body$ $create$, current_schema());
END $do$;

-- The timeline of the primary; null on a replica.
CREATE OR REPLACE FUNCTION current_timeline() RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN NOT pg_is_in_recovery() THEN
    ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::integer
  END
$$;

-- The row of the watermark. ended: the position where its history ended; null while it goes on, and on a replica.
-- See versions.sql for the settings.
CREATE OR REPLACE FUNCTION newest_watermark(
  OUT until timestamptz, OUT history integer, OUT former jsonb, OUT ended pg_lsn, OUT database oid, OUT timeline integer
) LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  newest record;
BEGIN
  -- There is one row. In this order its index has the earlier versions of the row behind it.
  SELECT *, next_id::xid = xmin AS is_own INTO newest FROM watermark ORDER BY next_id DESC LIMIT 1;
  until := newest.until;
  history := newest.history;
  former := newest.former;
  database := (SELECT oid FROM pg_database WHERE datname = current_database());
  timeline := current_timeline();
  ended := CASE
    WHEN pg_is_in_recovery() THEN NULL
    -- Copied by a restore.
    WHEN newest.is_own IS NOT TRUE OR newest.database IS DISTINCT FROM database THEN newest.log_position
    WHEN newest.timeline = timeline THEN NULL
    WHEN newest.timeline + 1 = timeline AND pg_last_wal_receive_lsn() IS NOT NULL THEN pg_last_wal_replay_lsn()
    ELSE newest.log_position
  END;
END $$;

CREATE OR REPLACE FUNCTION advance_watermark(margin interval DEFAULT '1 second') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := to_timestamp(pg_sequence_last_value('watermark_floor') / 1000::float8);
  before record := newest_watermark();
  begins boolean := before.history IS NULL OR before.ended IS NOT NULL;
  id xid8;
  published timestamptz;
BEGIN
  IF pg_current_xact_id_if_assigned() IS NOT NULL THEN
    RAISE 'advance_watermark must be the first that its transaction writes';
  END IF;
  -- After the floor was read.
  id := pg_current_xact_id();
  UPDATE watermark SET
    until = CASE WHEN next_id <= pg_snapshot_xmin(pg_current_snapshot()) THEN greatest(until, next_until) ELSE until END,
    next_until = moment,
    next_id = id,
    history = CASE WHEN begins THEN floor(random() * 1e9) ELSE history END,
    former = CASE WHEN before.ended IS NULL THEN former
      ELSE coalesce(former, '{}') || jsonb_build_object(history, before.ended) END,
    database = before.database,
    timeline = before.timeline,
    log_position = pg_current_wal_flush_lsn()
  -- An id of the future is that of another cluster, from which this one was restored.
  WHERE (begins OR next_id <= pg_snapshot_xmin(pg_current_snapshot()) OR next_id > id)
    -- Another call may have begun the same history meanwhile.
    AND history IS NOT DISTINCT FROM before.history
  RETURNING until INTO published;
  IF FOUND THEN
    PERFORM setval('watermark_floor', greatest(
      floor(extract(epoch FROM clock_timestamp() - margin) * 1000)::bigint,
      pg_sequence_last_value('watermark_floor') + 1,
      -- Where the watermark was restored without the sequence.
      floor(extract(epoch FROM published) * 1000)::bigint
    ));
  END IF;
END $$;

-- The watermark in RFC 3339, as responses have it. Behind its milliseconds is the mark, in 9 and 16 digits; not on a
-- replica, and not until the history has begun.
CREATE OR REPLACE FUNCTION current_watermark() RETURNS text LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS $$
DECLARE
  newest record := newest_watermark();
BEGIN
  RETURN to_char(newest.until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS') || CASE
    WHEN newest.timeline IS NULL OR newest.history IS NULL OR newest.ended IS NOT NULL THEN ''
    ELSE lpad(newest.history::text, 9, '0') || lpad((pg_current_wal_flush_lsn() - '0/0')::text, 16, '0')
  END || 'Z';
END $$;

-- Whether this database has all that was committed in a history before a position of the WAL in bytes.
CREATE OR REPLACE FUNCTION has_history(of_history integer, log_position numeric) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(CASE
    WHEN history <> of_history THEN log_position <= (former ->> of_history::text)::pg_lsn - '0/0'
    -- The end of the WAL is before a mark if an older data directory was put back.
    ELSE log_position <= coalesce(ended, CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
      ELSE pg_current_wal_flush_lsn() END) - '0/0'
  END, false) FROM newest_watermark()
$$;
