-- Lets the service keep a tally, a version and the times of changes of a table of others, where its owner lets the service
-- create triggers there. It creates nothing else in that table, and changes nothing of it. Its tables are
--
-- - <resource>_tally and <resource>_tally_deltas as in tally.sql, where each facet has one range only: cutting ranges needs a
--   lock for which the service has no privilege;
-- - <resource>_tally_changes, a row for each row of the table: when it was changed last. Rows that were there when tracking
--   began count as changed at that time. The row of a deleted one stays until its deletion is removed;
-- - <resource>_deletions as in deletions.sql.
--
-- Its triggers get all rows of a statement at once. They read the table only before TRUNCATE: its owner may rename it, or
-- take the privilege away. For each row that is written they insert its time, and a deletion for each identifier that was
-- there before the statement and is not after it. The triggers of one statement may run in any order, as with MERGE and
-- WITH. So an identifier with a deletion may exist: the list of deletions omits it. Or one with a time may not: updatedSince
-- finds no row for it. Both rows are written under the lock that the writer has on the row of the table, so that no
-- writer waits for another one here. The columns of the scope are recorded with the time, for the deletions of what is
-- gone when the table is tracked again.
--
-- Times obey the rule of the watermark. Whoever tracks a table anew does not know what changed meanwhile: every row counts
-- as changed then, and every row with a recorded time that is no longer in the table as deleted.

-- The relation of a name, without a privilege on its schema; null if there is none.
CREATE OR REPLACE FUNCTION relation_of(of_table text) RETURNS oid LANGUAGE sql STABLE AS $$
  SELECT pg_class.oid FROM parse_ident(of_table) AS named(part)
  JOIN pg_namespace ON nspname = part[1]
  JOIN pg_class ON relnamespace = pg_namespace.oid AND relname = part[2]
$$;

-- The table and all its partitions: a statement fires the triggers of the table that it names.
CREATE OR REPLACE FUNCTION tracked_relations(of_table text) RETURNS SETOF oid LANGUAGE sql STABLE AS $$
  WITH RECURSIVE tree AS (
    SELECT relation_of(of_table) AS relation
    UNION SELECT inhrelid FROM pg_inherits JOIN tree ON inhparent = relation
  )
  SELECT relation FROM tree WHERE relation IS NOT NULL ORDER BY relation
$$;

-- Why a table cannot be tracked, such as which privilege is missing; null if it can.
--
-- is_tracked: whether it is, so that the privilege to create triggers does not matter
CREATE OR REPLACE FUNCTION untrackable(of_table text, is_tracked boolean DEFAULT false) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  root oid := relation_of(of_table);
  kind text;
  found text;
BEGIN
  SELECT CASE relkind
      WHEN 'v' THEN 'a view' WHEN 'm' THEN 'a materialized view' WHEN 'f' THEN 'a foreign table'
    END INTO kind FROM pg_class WHERE oid = root;
  IF root IS NULL THEN
    RETURN format('there is no table %s', of_table);
  ELSIF kind IS NOT NULL THEN
    RETURN format('%s is %s: only a table can be tracked', of_table, kind);
  ELSIF EXISTS (SELECT FROM pg_class WHERE oid = root AND relpersistence <> 'p') THEN
    RETURN format('%s is not logged: a crash empties it without a trigger', of_table);
  END IF;
  SELECT inhparent::regclass::text INTO found FROM pg_inherits WHERE inhrelid = root;
  IF found IS NOT NULL THEN
    RETURN format('%s is a part of %s, whose writes fire no trigger of it', of_table, found);
  ELSIF EXISTS (SELECT FROM pg_inherits JOIN pg_class ON oid = inhparent WHERE inhparent = root AND relkind = 'r') THEN
    RETURN format('other tables inherit from %s, and no index keeps identifiers unique in all', of_table);
  END IF;
  SELECT oid::regclass::text INTO found FROM pg_class
  WHERE oid IN (SELECT tracked_relations(of_table)) AND relkind = 'f' LIMIT 1;
  IF found IS NOT NULL THEN
    RETURN format('%s has the partition %s, a foreign table', of_table, found);
  ELSIF row_security_active(root) THEN
    RETURN format('row security hides rows of %s from the user %s, which a tally would count', of_table, current_user);
  ELSIF EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid IN (SELECT tracked_relations(of_table))) THEN
    RETURN format('a subscription writes to %s, and fires no trigger of a statement', of_table);
  END IF;
  SELECT string_agg(statement, '; ' ORDER BY statement DESC) INTO found FROM (
    SELECT DISTINCT format('GRANT USAGE ON SCHEMA %I TO %I', nspname, current_user) AS statement
    FROM pg_namespace JOIN pg_class ON relnamespace = pg_namespace.oid
    WHERE pg_class.oid IN (SELECT tracked_relations(of_table)) AND NOT has_schema_privilege(pg_namespace.oid, 'USAGE')
    UNION ALL
    SELECT format('GRANT %s ON %I.%I TO %I', string_agg(privilege, ', '), nspname, relname, current_user)
    FROM unnest(CASE WHEN is_tracked THEN '{SELECT}' ELSE '{SELECT,TRIGGER}' END::text[]) AS needed(privilege), pg_class
    JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE pg_class.oid IN (SELECT tracked_relations(of_table))
    AND NOT has_table_privilege(pg_class.oid, privilege)
    GROUP BY nspname, relname
  ) missing;
  IF found IS NOT NULL THEN
    RETURN format('the user %s may not track %s; its owner must run %s', current_user, of_table, found);
  END IF;
  RETURN NULL;
END $$;

-- The triggers that call keep_<resource>_tally or keep_<resource>_changes, as kept says, on a table and its partitions: each
-- as install_trigger takes it. TRUNCATE of a partitioned table also fires the triggers of its partitions.
--
-- In a MERGE into a partitioned table that inserts a row and then updates others, PostgreSQL (18.4) passes the inserted row in
-- place of each updated one, unless the partition has a BEFORE ROW trigger. That is route, which never runs.
CREATE OR REPLACE FUNCTION tracking_triggers(of_table text, kept text)
RETURNS TABLE (relation oid, operation text, definition text) LANGUAGE sql STABLE AS $$
  SELECT oid, event, CASE event
      WHEN 'insert' THEN 'AFTER INSERT ON %s REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT'
      WHEN 'update' THEN 'AFTER UPDATE ON %s REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT'
      WHEN 'delete' THEN 'AFTER DELETE ON %s REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT'
      WHEN 'truncate' THEN
        CASE WHEN kept = 'tally' AND oid = root THEN 'AFTER' ELSE 'BEFORE' END || ' TRUNCATE ON %s FOR EACH STATEMENT'
      ELSE 'BEFORE INSERT ON %s FOR EACH ROW WHEN (false)' END
  FROM relation_of(of_table) AS root CROSS JOIN pg_class
  CROSS JOIN unnest('{insert,update,delete,truncate,route}'::text[]) AS event
  WHERE oid IN (SELECT tracked_relations(of_table)) AND CASE event
    WHEN 'truncate' THEN relkind = 'r' OR kept = 'tally' AND oid = root
    WHEN 'route' THEN relkind = 'r' AND kept = 'changes' AND oid <> root
    ELSE true END
  ORDER BY oid
$$;

-- Creates the triggers of tracking_triggers.
CREATE OR REPLACE FUNCTION create_tracking_triggers(of_resource text, of_table text, kept text) RETURNS void
LANGUAGE sql AS $$
  SELECT install_trigger(relation, format('%s_%s_%s', of_resource, kept, operation), definition,
    format('%I.%I', current_schema(), format('keep_%s_%s', of_resource, kept)))
  FROM tracking_triggers(of_table, kept)
$$;

-- What a tracked table is now, to be compared with what it was when its rows were counted:
--
-- - triggers: every update of a row of the catalog gives it another xmin. So one that was disabled and enabled again differs:
--   writes in between were not counted.
-- - columns: those that the triggers read, by name. Partitions follow the table. DDL that gives rows other values fires no
--   trigger: a column that is dropped and added again, or gets another type.
-- - labels: the values of enumerations among these, by oid, which outlives a new name.
CREATE OR REPLACE FUNCTION tracking_of(of_resource text) RETURNS jsonb LANGUAGE sql STABLE AS $$
  WITH read_columns AS (
    SELECT attname, attnum, atttypid, attcollation FROM tallies JOIN pg_attribute ON attrelid = relation_of(tracked)
    WHERE resource = of_resource AND NOT attisdropped AND (
      attname = identifier OR attname = ANY(string_to_array(array_to_string(counted, '+'), '+'))
      OR attname IN (
        SELECT attname FROM pg_attribute
        WHERE attrelid = to_regclass(quote_ident(of_resource || '_tally_changes')) AND attnum > 0 AND NOT attisdropped
      )
    )
  )
  SELECT jsonb_build_object(
    'triggers', (
      SELECT jsonb_agg(concat_ws(':', relation, tgname, tgenabled, pg_trigger.xmin) ORDER BY relation, tgname)
      FROM tallies CROSS JOIN tracked_relations(tracked) AS relation
      LEFT JOIN pg_trigger ON tgrelid = relation AND tgfoid IN (
        to_regprocedure(format('%I.%I()', current_schema(), 'keep_' || of_resource || '_tally')),
        to_regprocedure(format('%I.%I()', current_schema(), 'keep_' || of_resource || '_changes'))
      )
      WHERE resource = of_resource
    ),
    'columns', (SELECT jsonb_object_agg(attname, concat_ws(':', attnum, atttypid, attcollation)) FROM read_columns),
    'labels', (
      SELECT jsonb_object_agg(pg_enum.oid, enumlabel) FROM pg_enum WHERE enumtypid IN (SELECT atttypid FROM read_columns)
    )
  )
$$;

-- Values that an enumeration has gained do not matter, as no row had them.
CREATE OR REPLACE FUNCTION is_tracking_intact(of_resource text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(tracking - 'labels' = found - 'labels' AND (
    tracking -> 'labels' = 'null' OR tracking -> 'labels' <@ (found -> 'labels')
  ), false)
  FROM tallies CROSS JOIN tracking_of(resource) AS found WHERE resource = of_resource
$$;

-- Raises an exception with the reason why a table cannot be tracked as declared.
CREATE OR REPLACE FUNCTION check_trackable(of_resource text, of_table text, identifier text, counted text[], recorded text[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  root oid := relation_of(of_table);
  reason text := CASE WHEN root IS NOT NULL THEN untrackable(of_table) END;
  culprit text;
BEGIN
  IF reason IS NOT NULL THEN
    RAISE '%', reason USING ERRCODE = 'object_not_in_prerequisite_state';
  ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE 'track_table counts what others have written before it locks the table: use READ COMMITTED';
  ELSIF EXISTS (SELECT FROM tallies WHERE resource = of_resource AND tracked IS NULL) THEN
    RAISE 'The resource % has a table of its own', of_resource;
  ELSIF octet_length(of_resource) > 63 - length('_changes_truncate') THEN
    RAISE 'The name % is too long for those of its triggers', of_resource;
  END IF;
  IF root IS NULL THEN RETURN; END IF;
  IF least_identifier(identifier_type(root, identifier)) IS NULL THEN
    RAISE '% has no column % that is a text, an integer, a bigint or a uuid', of_table, identifier;
  END IF;
  SELECT attname INTO culprit FROM pg_attribute LEFT JOIN pg_collation ON pg_collation.oid = attcollation
  WHERE attrelid = root AND attname = ANY(string_to_array(array_to_string(counted, '+'), '+'))
  AND (atttypid = 'bpchar'::regtype OR NOT collisdeterministic);
  IF FOUND THEN
    RAISE 'The column % of % cannot be counted: different texts are equal in it', culprit, of_table;
  END IF;
  SELECT name INTO culprit FROM unnest(recorded || counted) name
  WHERE strpos(name, '%') > 0 OR name = ANY(recorded) AND name IN ('changedAt', 'deletedAt');
  IF FOUND THEN
    RAISE 'The column % of % cannot be tracked: rename it', culprit, of_table;
  END IF;
  SELECT name INTO culprit FROM unnest(recorded) name
  WHERE name NOT IN (SELECT attname FROM pg_attribute WHERE attrelid = root AND NOT attisdropped);
  IF FOUND THEN
    RAISE '% has no column %', of_table, culprit;
  END IF;
END $$;

-- Creates the function of the triggers that keep the tally of a table.
--
-- recording: a statement that adds the sums of a query to the deltas, as text for format
-- counting: a statement that adds the rows of a table to the deltas, each times a number, as text for format
-- columns: those that the tally counts, each behind a comma
CREATE OR REPLACE FUNCTION create_counting_function(
  of_resource text, elements text[], recording text, counting text, columns text
) RETURNS void LANGUAGE plpgsql AS $create$
DECLARE
  home text := quote_ident(current_schema());
BEGIN
  EXECUTE format($function$
    -- With its owner's rights: a writer needs no privilege on the tally.
    CREATE OR REPLACE FUNCTION %1$s() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    #variable_conflict use_column
    BEGIN
      IF TG_OP = 'INSERT' THEN
        IF NOT EXISTS (SELECT FROM new_rows) THEN RETURN NULL; END IF;
        %3$s;
      ELSIF TG_OP = 'DELETE' THEN
        IF NOT EXISTS (SELECT FROM old_rows) THEN RETURN NULL; END IF;
        %4$s;
      ELSIF TG_OP = 'UPDATE' THEN
        IF NOT EXISTS (SELECT FROM new_rows) THEN RETURN NULL; END IF;
        %5$s;
      ELSIF TG_WHEN = 'BEFORE' THEN
        -- Of one partition. It empties that of more than an older snapshot shows.
        IF current_setting('transaction_isolation') <> 'read committed' THEN
          RAISE 'TRUNCATE of a partition would not count every row' USING
            ERRCODE = 'serialization_failure', HINT = 'Use READ COMMITTED, or DELETE.';
        END IF;
        EXECUTE replace(%6$L, '@relation', TG_RELID::regclass::text);
      ELSE
        -- As the table itself: empty in every snapshot.
        TRUNCATE %7$s, %8$s;
      END IF;
      INSERT INTO %9$s.resource_versions (resource) VALUES (%2$L);
      RETURN NULL;
    END $body$ $function$,
    format('%s.%I', home, 'keep_' || of_resource || '_tally'), of_resource, format(counting, 'new_rows', 1),
    format(counting, 'old_rows', -1),
    -- The number of all objects stays.
    CASE elements WHEN '{""}' THEN 'NULL' ELSE format(recording, tally_sums(elements, format(
      '(SELECT 1 AS "#step"%1$s FROM new_rows UNION ALL SELECT -1%1$s FROM old_rows) object', columns))) END,
    format(counting, '@relation', -1), format('%s.%I', home, of_resource || '_tally'),
    format('%s.%I', home, of_resource || '_tally_deltas'), home);
END $create$;

-- Creates the tally of a table and the triggers that keep it, and counts the rows.
CREATE OR REPLACE FUNCTION track_tally(of_resource text, of_table text, identifier text, counted text[]) RETURNS void
LANGUAGE plpgsql SET work_mem = '256MB' AS $$
DECLARE
  root oid := relation_of(of_table);
  tally text := format('%I.%I', current_schema(), of_resource || '_tally');
  deltas text := format('%I.%I', current_schema(), of_resource || '_tally_deltas');
  key_type text := coalesce(identifier_type(root, identifier), 'text COLLATE "C"');
  elements text[] := ''::text || counted;
  columns text := (
    SELECT string_agg(DISTINCT ', ' || quote_ident(name), '')
    FROM unnest(string_to_array(array_to_string(counted, '+'), '+')) name
  );
  recording text := format('INSERT INTO %s (facet, lowest, count) SELECT facet, %s, total FROM (%%s) sums',
    deltas, least_identifier(key_type));
  counting text := format(recording, tally_sums(elements, format('(SELECT %%2$s AS "#step"%s FROM %%1$s) object', columns)));
BEGIN
  PERFORM create_counting_function(of_resource, elements, recording, counting, columns);
  -- They lock the table: no writer comes between them and the counting. Then the tally, as writers do.
  PERFORM create_tracking_triggers(of_resource, of_table, 'tally');
  EXECUTE format('DROP TABLE IF EXISTS %s, %s', deltas, tally);
  DELETE FROM tallies WHERE resource = of_resource;
  INSERT INTO tallies (resource, identifier, counted, tracked) VALUES (of_resource, identifier, counted, of_table);
  PERFORM create_tally_tables(ordered, key_type) FROM tally_orders ordered WHERE resource = of_resource;
  IF root IS NOT NULL THEN EXECUTE format(counting, root::regclass, 1); END IF;
END $$;

-- Creates the tables of the changes and deletions of a table, if there are none with such columns.
CREATE OR REPLACE FUNCTION create_change_tables(of_resource text, root oid, recorded text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  changes text := format('%I.%I', current_schema(), of_resource || '_tally_changes');
BEGIN
  -- Those with other columns are dropped, with what they have recorded.
  IF to_regclass(changes) IS NOT NULL AND NOT records_columns(to_regclass(changes), root, recorded) THEN
    PERFORM untime_changes(of_resource);
  END IF;
  IF to_regclass(changes) IS NULL THEN
    EXECUTE format('CREATE TABLE %s (%s, "changedAt" timestamptz(3) NOT NULL, PRIMARY KEY (%I))',
      changes, recorded_columns(root, recorded), recorded[1]);
    EXECUTE format('CREATE INDEX ON %s ("changedAt", %I)', changes, recorded[1]);
  END IF;
  PERFORM create_deletions_table(of_resource, root, recorded);
END $$;

-- Creates the function of the triggers that keep the times of changes and the deletions of a table.
--
-- columns: those that they record, of which key is the identifier
-- selected: the same columns of the table, with the types of those that record them
-- deleted: a statement that records the deletions of the rows of a query at a time, as text for format
CREATE OR REPLACE FUNCTION create_changes_function(
  of_resource text, recorded text[], columns text, selected text, deleted text
) RETURNS void LANGUAGE plpgsql AS $create$
DECLARE
  home text := quote_ident(current_schema());
  renewed text := (SELECT string_agg(format('%1$I = excluded.%1$I', name), ', ')
    FROM unnest(recorded[2:] || '{changedAt}'::text[]) name);
  -- What an update has left, of identifiers and of what a scope compares.
  gone text := format('SELECT %1$s FROM old_rows EXCEPT SELECT %1$s FROM new_rows', selected);
BEGIN
  EXECUTE format($function$
    -- With its owner's rights: a writer needs no privilege on these tables.
    CREATE OR REPLACE FUNCTION %1$s() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    #variable_conflict use_column
    DECLARE
      -- Not the name of a column.
      "#now" timestamptz;
    BEGIN
      IF TG_OP = 'INSERT' THEN
        IF NOT EXISTS (SELECT FROM new_rows) THEN RETURN NULL; END IF;
      ELSIF TG_OP IN ('UPDATE', 'DELETE') THEN
        IF NOT EXISTS (SELECT FROM old_rows) THEN RETURN NULL; END IF;
      END IF;
      "#now" := %2$s.write_time();
      IF TG_OP IN ('INSERT', 'UPDATE') THEN
        -- Cascades of one statement may update a row twice.
        INSERT INTO %3$s (%4$s, "changedAt") SELECT DISTINCT ON (%6$s) %5$s, "#now" FROM new_rows
        ON CONFLICT (%6$s) DO UPDATE SET %7$s;
      END IF;
      IF TG_OP = 'UPDATE' THEN
        -- Most updates leave the identifier as it is.
        IF EXISTS (%8$s) THEN %9$s; END IF;
      ELSIF TG_OP = 'DELETE' THEN
        %10$s;
      ELSIF TG_OP = 'TRUNCATE' THEN
        -- It empties the table of more than an older snapshot shows.
        IF current_setting('transaction_isolation') <> 'read committed' THEN
          RAISE 'TRUNCATE would not tell of every deletion' USING
            ERRCODE = 'serialization_failure', HINT = 'Use READ COMMITTED, or DELETE.';
        END IF;
        EXECUTE replace(%11$L, '@relation', TG_RELID::regclass::text) USING "#now";
      END IF;
      RETURN NULL;
    END $body$ $function$,
    format('%s.%I', home, 'keep_' || of_resource || '_changes'), home, format('%s.%I', home, of_resource || '_tally_changes'),
    columns, selected, quote_ident(recorded[1]), renewed, gone, format(deleted, gone, '"#now"'),
    format(deleted, format('SELECT %s FROM old_rows', selected), '"#now"'),
    format(deleted, format('SELECT %s FROM @relation', selected), '$1'));
END $create$;

-- Creates the times of changes and the deletions of a table, and the triggers that keep them. The table is locked.
--
-- recorded: the columns that they record, of which the first is the identifier
CREATE OR REPLACE FUNCTION track_changes(of_resource text, of_table text, recorded text[]) RETURNS void
LANGUAGE plpgsql SET client_min_messages = warning AS $$
DECLARE
  root oid := relation_of(of_table);
  changes text := format('%I.%I', current_schema(), of_resource || '_tally_changes');
  columns text := (SELECT string_agg(quote_ident(name), ', ' ORDER BY place)
    FROM unnest(recorded) WITH ORDINALITY AS part(name, place));
  selected text;
  deleted text := format(
    'INSERT INTO %I.%I (%s, "deletedAt") SELECT %3$s, %%2$s FROM (%%1$s) gone
     ON CONFLICT (%3$s) DO UPDATE SET "deletedAt" = excluded."deletedAt"', current_schema(), of_resource || '_deletions', columns);
  since timestamptz;
BEGIN
  IF root IS NOT NULL OR to_regclass(changes) IS NULL THEN
    PERFORM create_change_tables(of_resource, root, recorded);
  END IF;
  IF root IS NULL THEN RETURN; END IF;
  selected := (SELECT string_agg(format('%I::%s', attname, format_type(atttypid, -1)), ', ' ORDER BY attnum)
    FROM pg_attribute WHERE attrelid = changes::regclass AND attname = ANY(recorded));
  PERFORM create_changes_function(of_resource, recorded, columns, selected, deleted);
  PERFORM create_tracking_triggers(of_resource, of_table, 'changes');
  since := write_time();
  EXECUTE format(deleted, format('SELECT %s FROM %s EXCEPT SELECT %s FROM %s', columns, changes, selected, root::regclass), '$1')
    USING since;
  EXECUTE format('DELETE FROM %s', changes);
  EXECUTE format('INSERT INTO %s (%s, "changedAt") SELECT %s, $1 FROM %s', changes, columns, selected, root::regclass)
    USING since;
END $$;

-- Tracks a table of others for a resource, or tracks it anew. If there is no such table, it only records what the resource
-- lists: a schema without the tables of others, such as that of a test, is migrated all the same, and the lists of this
-- resource are then withheld. All that it creates belongs to the owner of the tallies, who needs the privileges.
--
-- scoped: the columns that the deletions record besides the identifier
CREATE OR REPLACE FUNCTION track_table(
  of_resource text, of_table text, identifier text, counted text[] DEFAULT '{}', scoped text[] DEFAULT '{}'
) RETURNS void LANGUAGE plpgsql SET client_min_messages = warning AS $$
DECLARE
  caller text := current_setting('role');
  recorded text[] := identifier || array_remove(scoped, identifier);
  keep_tally text := format('%I.%I()', current_schema(), 'keep_' || of_resource || '_tally');
  keep_changes text := format('%I.%I()', current_schema(), 'keep_' || of_resource || '_changes');
BEGIN
  PERFORM set_config('role', (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'tallies'::regclass), true);
  PERFORM check_trackable(of_resource, of_table, identifier, counted, recorded);
  -- Triggers of a former partition, or of another table, go with their function: dropping them alone takes the owner of
  -- their table.
  IF EXISTS (
    SELECT FROM pg_trigger WHERE tgfoid IN (to_regprocedure(keep_tally), to_regprocedure(keep_changes))
    AND tgrelid NOT IN (SELECT tracked_relations(of_table))
  ) THEN
    EXECUTE format('DROP FUNCTION IF EXISTS %s, %s CASCADE', keep_tally, keep_changes);
  END IF;
  -- It locks the table: nobody writes to it until the end of the transaction.
  PERFORM track_tally(of_resource, of_table, identifier, counted);
  PERFORM track_changes(of_resource, of_table, recorded);
  UPDATE tallies SET tracking = tracking_of(of_resource) WHERE resource = of_resource;
  INSERT INTO resource_versions (resource) VALUES (of_resource);
  PERFORM set_config('role', caller, true);
END $$;

-- Removes the times of changes and the deletions of a table of others, with their triggers.
CREATE OR REPLACE FUNCTION untime_changes(of_resource text) RETURNS void LANGUAGE plpgsql
-- It names the triggers that go with their function.
SET client_min_messages = warning AS $$
BEGIN
  EXECUTE format('DROP FUNCTION IF EXISTS %I() CASCADE', 'keep_' || of_resource || '_changes');
  EXECUTE format('DROP TABLE IF EXISTS %I, %I', of_resource || '_tally_changes', of_resource || '_deletions');
END $$;

-- Removes everything that track_table has created.
CREATE OR REPLACE FUNCTION untrack_table(of_resource text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM tallies WHERE resource = of_resource AND tracked IS NULL) THEN
    RAISE 'The resource % has a table of its own', of_resource;
  END IF;
  PERFORM untime_changes(of_resource), remove_tally(of_resource);
END $$;
