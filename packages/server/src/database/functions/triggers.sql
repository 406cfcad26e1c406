-- The triggers of a resource with a table of its own, by part, and whether each is installed: it is defined like that, calls the
-- function of its part, which belongs to the owner of the table, and is enabled. To create it again would let readers and
-- writers of the table wait. Those that fire as A do so also for a writer whose session says that it replicates.
--
-- definition: as in CREATE TRIGGER, without what closes the arguments of its function; null if that is missing
CREATE OR REPLACE FUNCTION part_triggers(of_resource text)
RETURNS TABLE (part text, name text, definition text, fires text, is_installed boolean) LANGUAGE sql STABLE AS $$
  SELECT part, name, definition, fires, EXISTS (
      SELECT FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
      WHERE tgrelid = of_table AND tgname = name AND tgenabled::text IN (fires, 'A')
      AND (proowner = relowner OR part = 'updated_at')
      AND starts_with(pg_get_triggerdef(pg_trigger.oid, true), 'CREATE TRIGGER ' || definition)
    )
  FROM (VALUES
    -- Without UPDATE OF and WHEN, which would keep a migration from dropping a column or changing its type.
    ('updated_at', '', 'O', 'BEFORE INSERT OR UPDATE ON %s FOR EACH ROW'),
    ('words', '', 'O', 'BEFORE INSERT OR UPDATE ON %s FOR EACH ROW'),
    ('deletions', '_delete', 'A', 'AFTER DELETE ON %s REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT'),
    ('deletions', '_rename', 'A', 'AFTER UPDATE ON %s FOR EACH ROW'),
    ('deletions', '_truncate', 'A', 'BEFORE TRUNCATE ON %s FOR EACH STATEMENT'),
    ('tally', '_insert', 'A', 'AFTER INSERT ON %s REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT'),
    ('tally', '_update', 'A',
      'AFTER UPDATE ON %s REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT'),
    ('tally', '_delete', 'A', 'AFTER DELETE ON %s REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT'),
    ('tally', '_truncate', 'A', 'AFTER TRUNCATE ON %s FOR EACH STATEMENT')
  ) AS needed(part, operation, fires, timing)
  CROSS JOIN LATERAL (
    SELECT of_resource || '_' || part || operation AS name,
      to_regclass(format('%I.%I', current_schema(), of_resource)) AS of_table,
      to_regprocedure(format('%I.%I()', current_schema(),
        CASE part WHEN 'updated_at' THEN 'keep_updated_at' ELSE 'keep_' || of_resource || '_' || part END)) AS called
  ) named
  CROSS JOIN LATERAL (
    SELECT format('%I ' || timing, name, of_table) || ' EXECUTE FUNCTION ' || left(called::text, -1) AS definition
  ) defined
$$;

-- Creates the triggers of a part that are not installed, or replaces those that differ.
CREATE OR REPLACE FUNCTION install_triggers(of_resource text, of_part text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  lacking record;
BEGIN
  FOR lacking IN SELECT * FROM part_triggers(of_resource) WHERE part = of_part AND NOT is_installed LOOP
    EXECUTE format('CREATE OR REPLACE TRIGGER %s)', lacking.definition);
    IF lacking.fires = 'A' THEN
      EXECUTE format('ALTER TABLE %I.%I ENABLE ALWAYS TRIGGER %I', current_schema(), of_resource, lacking.name);
    END IF;
  END LOOP;
END $$;
