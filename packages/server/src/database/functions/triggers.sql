-- Creates a trigger, or replaces it. It fires also for a writer whose session says that it replicates.
--
-- definition: as in CREATE TRIGGER, from its time to FOR EACH and WHEN, with %s in place of the table
CREATE OR REPLACE FUNCTION install_trigger(of_table regclass, name text, definition text, called text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE OR REPLACE TRIGGER %I %s EXECUTE FUNCTION %s()', name, format(definition, of_table), called);
  EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', of_table, name);
END $$;
