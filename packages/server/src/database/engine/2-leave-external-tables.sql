-- Removes what former versions have installed on external tables, and the functions that installed it.
DO $$
DECLARE
  tracked_resource text;
BEGIN
  IF NOT EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = to_regclass('tallies') AND attname = 'tracked' AND NOT attisdropped
  ) THEN
    RETURN;
  END IF;
  FOR tracked_resource IN SELECT resource FROM tallies WHERE tracked IS NOT NULL LOOP
    EXECUTE format('DROP FUNCTION IF EXISTS %I() CASCADE', 'keep_' || tracked_resource || '_changes');
    EXECUTE format('DROP TABLE IF EXISTS %I, %I',
      tracked_resource || '_tally_changes', tracked_resource || '_deletions');
    PERFORM remove_tally(tracked_resource);
  END LOOP;
  ALTER TABLE tallies DROP tracked, DROP tracking;
END $$;

DROP FUNCTION IF EXISTS relation_of, tracked_relations, untrackable, tracking_triggers, create_tracking_triggers, tracking_of,
  is_tracking_intact, check_trackable, create_counting_function, track_tally, create_change_tables, create_changes_function,
  track_changes, track_table, untime_changes, untrack_table;
