-- Whether a table has a trigger that calls a function of the table's owner, and fires as pg_trigger.tgenabled says. To create
-- it again would let readers and writers of the table wait.
--
-- definition: as in CREATE TRIGGER, from its time to FOR EACH and WHEN, with %s in place of the table
CREATE OR REPLACE FUNCTION has_trigger(of_table regclass, name text, definition text, called text, fires "char")
RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM pg_trigger
    JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid AND proowner = relowner
    WHERE tgrelid = of_table AND tgname = name AND tgenabled = fires
    AND pg_get_triggerdef(pg_trigger.oid, true) = format(
      'CREATE TRIGGER %I %s EXECUTE FUNCTION %s', name, format(definition, of_table), to_regprocedure(called || '()'))
  )
$$;

-- Creates a trigger, or replaces one that differs. It fires also for a writer whose session says that it replicates.
CREATE OR REPLACE FUNCTION install_trigger(of_table regclass, name text, definition text, called text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF has_trigger(of_table, name, definition, called, 'A') THEN RETURN; END IF;
  EXECUTE format('CREATE OR REPLACE TRIGGER %I %s EXECUTE FUNCTION %s()', name, format(definition, of_table), called);
  EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', of_table, name);
END $$;
