-- <resource>_deletions records the identifiers of deleted objects, each with the time of its deletion as deletedAt, for
-- clients that keep a copy. The times obey the rule of the watermark.
--
-- An insert does not remove the deletion of its identifier. Instead, the list of deletions omits identifiers that exist,
-- which is right even if the inserting snapshot did not see the deletion.
--
-- It may also record columns of the deleted objects, so that each client is only told of those that it has seen. Then
-- an object counts as deleted also when one of them changes: for who saw it by the old value, it is gone. So an
-- identifier has a deletion for each combination of values that it had.

-- Definitions of columns as in CREATE TABLE, with the types of a table and without their lengths; an enumeration as text:
-- a change of these must not make the triggers fail.
CREATE OR REPLACE FUNCTION recorded_columns(of_table oid, names text[]) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT string_agg(concat_ws(' ', quote_ident(name), CASE
      WHEN typtype = 'e' THEN 'text COLLATE "default"'
      ELSE format_type(atttypid, -1) || coalesce(' COLLATE ' || nullif(attcollation, 0)::regcollation::text, '') END),
    ', ' ORDER BY place)
  FROM unnest(names) WITH ORDINALITY AS part(name, place)
  LEFT JOIN pg_attribute ON attrelid = of_table AND attname = name AND NOT attisdropped
  LEFT JOIN pg_type ON pg_type.oid = atttypid
$$;

-- Whether a table has columns as recorded_columns defines them, and one for a time.
CREATE OR REPLACE FUNCTION records_columns(recording oid, of_table oid, names text[]) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT recording IS NOT NULL AND recorded_columns(recording, names) = recorded_columns(of_table, names)
    AND count(*) = cardinality(names) + 1
  FROM pg_attribute WHERE attrelid = recording AND attnum > 0 AND NOT attisdropped
$$;

-- Creates the table of deletions, if there is none with such columns. What a table with other columns has recorded stays, but
-- for the columns that are no longer recorded. A new one is null: no client has seen the object by it.
--
-- recorded: the columns, of which the first is the identifier
CREATE OR REPLACE FUNCTION create_deletions_table(of_resource text, of_table oid, recorded text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  deletions text := format('%I.%I', current_schema(), of_resource || '_deletions');
  former text := format('%I.%I', current_schema(), of_resource || '_deletions_former');
  kept text[];
BEGIN
  IF records_columns(to_regclass(deletions), of_table, recorded) THEN RETURN; END IF;
  kept := ARRAY(
    SELECT quote_ident(name) FROM unnest(recorded) WITH ORDINALITY AS part(name, at)
    WHERE recorded_columns(to_regclass(deletions), ARRAY[name]) = recorded_columns(of_table, ARRAY[name]) ORDER BY at
  );
  IF kept[1] = quote_ident(recorded[1]) THEN
    EXECUTE format('CREATE UNLOGGED TABLE %s AS SELECT %s, max("deletedAt") AS "deletedAt" FROM %s GROUP BY %2$s',
      former, array_to_string(kept, ', '), deletions);
  END IF;
  EXECUTE format('DROP TABLE IF EXISTS %s', deletions);
  EXECUTE format('CREATE TABLE %s (%s, "deletedAt" timestamptz(3) NOT NULL, %s (%s))', deletions,
    recorded_columns(of_table, recorded),
    CASE cardinality(recorded) WHEN 1 THEN 'PRIMARY KEY' ELSE 'UNIQUE NULLS NOT DISTINCT' END,
    (SELECT string_agg(quote_ident(name), ', ' ORDER BY at) FROM unnest(recorded) WITH ORDINALITY AS part(name, at)));
  EXECUTE format('ALTER TABLE %s ALTER %I SET NOT NULL', deletions, recorded[1]);
  EXECUTE format('CREATE INDEX ON %s ("deletedAt", %I)', deletions, recorded[1]);
  IF kept[1] = quote_ident(recorded[1]) THEN
    EXECUTE format('INSERT INTO %s (%s, "deletedAt") SELECT %2$s, "deletedAt" FROM %s', deletions, array_to_string(kept, ', '), former);
    EXECUTE format('DROP TABLE %s', former);
  END IF;
END $$;

-- Creates the triggers that record the deletions of a resource, or replaces them, and their table. What a table with the
-- same columns has recorded stays. All that it creates belongs to the owner of the table of the resource.
--
-- scoped: the columns that they record besides the identifier
CREATE OR REPLACE FUNCTION install_deletions(of_resource text, identifier text, scoped text[] DEFAULT '{}') RETURNS void
LANGUAGE plpgsql AS $install$
DECLARE
  home text := quote_ident(current_schema());
  caller text := current_setting('role');
  resource text := format('%s.%I', home, of_resource);
  keep text := format('%s.%I', home, 'keep_' || of_resource || '_deletions');
  recorded text[] := identifier || scoped;
  columns text := (SELECT string_agg(quote_ident(name), ', ') FROM unnest(recorded) name);
  -- The statement that records the rows of a source. No column is called "#now".
  recording text := format('INSERT INTO %s.%I (%s, "deletedAt") %%s
          ON CONFLICT (%3$s) DO UPDATE SET "deletedAt" = excluded."deletedAt"',
    home, of_resource || '_deletions', columns);
BEGIN
  PERFORM set_config('role', (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = resource::regclass), true);
  PERFORM create_deletions_table(of_resource, resource::regclass, recorded);
  EXECUTE format($function$
    -- With its owner's rights: a writer needs no privilege on the deletions.
    CREATE OR REPLACE FUNCTION %1$s() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    #variable_conflict use_column
    DECLARE
      "#now" timestamptz;
    BEGIN
      IF TG_OP = 'UPDATE' THEN
        IF NOT (%6$s) THEN RETURN NULL; END IF;
      END IF;
      "#now" := %2$s.write_time();
      IF TG_OP = 'DELETE' THEN
        %3$s;
      ELSIF TG_OP = 'UPDATE' THEN
        %4$s;
      ELSE
        -- It empties the table of more than an older snapshot shows.
        IF current_setting('transaction_isolation') <> 'read committed' THEN
          RAISE 'TRUNCATE would not tell of every deletion' USING
            ERRCODE = 'serialization_failure', HINT = 'Use READ COMMITTED, or DELETE.';
        END IF;
        %5$s;
      END IF;
      RETURN NULL;
    END $body$ $function$,
    keep, home,
    format(recording, format('SELECT %s, "#now" FROM old_rows', columns)),
    format(recording, (SELECT format('VALUES (%s, "#now")', string_agg(format('OLD.%I', name), ', ')) FROM unnest(recorded) name)),
    format(recording, format('SELECT %s, "#now" FROM %s', columns, resource)),
    (SELECT string_agg(format('OLD.%1$I IS DISTINCT FROM NEW.%1$I', name), ' OR ') FROM unnest(recorded) name));
  PERFORM install_triggers(of_resource, 'deletions');
  PERFORM set_config('role', caller, true);
END $install$;

CREATE OR REPLACE FUNCTION remove_deletions(of_resource text) RETURNS void LANGUAGE plpgsql
SET client_min_messages = warning AS $$
BEGIN
  EXECUTE format('DROP FUNCTION IF EXISTS %I() CASCADE', 'keep_' || of_resource || '_deletions');
  EXECUTE format('DROP TABLE IF EXISTS %I', of_resource || '_deletions');
END $$;
