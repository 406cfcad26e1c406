import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets the deletions of a resource record columns of the deleted objects, so that each client is only told
 * of those that it has seen. Adds an `install_deletions` that takes these columns. It records an object as
 * deleted also when one of them changes: for who saw it by the old value, it is gone. So an identifier has a
 * deletion for each combination of values that it had. The deletions of other resources stay as they are.
 */
export class ScopeDeletions1764644400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(INSTALL);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION install_deletions(text, text, text[])');
  }
}

/**
 * The columns have the type of the resource's, without a length, and as text for an enumeration: a change of
 * these must not make the triggers fail.
 */
const INSTALL = `CREATE FUNCTION install_deletions(of_resource text, identifier text, scoped text[])
   RETURNS void LANGUAGE plpgsql AS $install$
   DECLARE
     home text := quote_ident(current_schema());
     resource text := home || '.' || quote_ident(of_resource);
     deletions text := home || '.' || quote_ident(of_resource || '_deletions');
     keep text := home || '.' || quote_ident('keep_' || of_resource || '_deletions');
     key_names text := (SELECT string_agg(quote_ident(name), ', ')
       FROM unnest(identifier || scoped) name);
     key_columns text;
     changes text := (SELECT string_agg(format('OLD.%1$I IS DISTINCT FROM NEW.%1$I', name), ' OR ')
       FROM unnest(identifier || scoped) name);
     moment text := format(
       'greatest(clock_timestamp(), to_timestamp(pg_sequence_last_value(%L::regclass) / 1000::float8))',
       home || '.watermark_floor');
     operation text;
   BEGIN
     IF cardinality(scoped) = 0 THEN
       PERFORM install_deletions(of_resource, identifier);
       RETURN;
     END IF;
     PERFORM remove_deletions(of_resource);
     SELECT string_agg(format('%I %s %s', name,
         CASE typtype WHEN 'e' THEN 'text'
           ELSE format_type(atttypid, CASE name WHEN identifier THEN atttypmod ELSE -1 END) END,
         'COLLATE ' || (SELECT c.oid::regcollation FROM pg_collation c WHERE c.oid = attcollation)),
         ', ' ORDER BY place)
       INTO key_columns
       FROM unnest(identifier || scoped) WITH ORDINALITY AS part(name, place)
       JOIN pg_attribute ON attrelid = resource::regclass AND attname = name
       JOIN pg_type ON pg_type.oid = atttypid;
     EXECUTE format(
       'CREATE TABLE %s (%s, "deletedAt" timestamptz(3) NOT NULL, UNIQUE NULLS NOT DISTINCT (%s))',
       deletions, key_columns, key_names);
     EXECUTE format('ALTER TABLE %s ALTER %I SET NOT NULL', deletions, identifier);
     EXECUTE format('CREATE INDEX ON %s ("deletedAt", %I)', deletions, identifier);
     EXECUTE format($function$
       CREATE FUNCTION %1$s() RETURNS trigger LANGUAGE plpgsql
       SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
       BEGIN
         -- Before the time is taken: see the watermark.
         PERFORM pg_current_xact_id();
         IF TG_OP = 'DELETE' THEN
           INSERT INTO %2$s SELECT %3$s, %6$s FROM old_rows
           ON CONFLICT (%3$s) DO UPDATE SET "deletedAt" = excluded."deletedAt";
         ELSIF TG_OP = 'UPDATE' THEN
           INSERT INTO %2$s VALUES (%4$s, %6$s)
           ON CONFLICT (%3$s) DO UPDATE SET "deletedAt" = excluded."deletedAt";
         ELSE
           -- It empties the table of more than an older snapshot shows.
           IF current_setting('transaction_isolation') <> 'read committed' THEN
             RAISE 'TRUNCATE would not tell of every deletion' USING
               ERRCODE = 'serialization_failure', HINT = 'Use READ COMMITTED, or DELETE.';
           END IF;
           INSERT INTO %2$s SELECT %3$s, %6$s FROM %5$s
           ON CONFLICT (%3$s) DO UPDATE SET "deletedAt" = excluded."deletedAt";
         END IF;
         RETURN NULL;
       END $body$ $function$,
       keep, deletions, key_names,
       (SELECT string_agg(format('OLD.%I', name), ', ') FROM unnest(identifier || scoped) name),
       resource, moment);
     EXECUTE format(
       'CREATE TRIGGER %I AFTER DELETE ON %I REFERENCING OLD TABLE AS old_rows
        FOR EACH STATEMENT EXECUTE FUNCTION %s()', of_resource || '_deletions_delete', of_resource, keep);
     EXECUTE format(
       'CREATE TRIGGER %I AFTER UPDATE ON %I FOR EACH ROW WHEN (%s)
        EXECUTE FUNCTION %s()', of_resource || '_deletions_rename', of_resource, changes, keep);
     EXECUTE format(
       'CREATE TRIGGER %I BEFORE TRUNCATE ON %I
        FOR EACH STATEMENT EXECUTE FUNCTION %s()', of_resource || '_deletions_truncate', of_resource, keep);
     -- Also for a writer whose session says that it replicates.
     FOREACH operation IN ARRAY '{delete,rename,truncate}'::text[] LOOP
       EXECUTE format(
         'ALTER TABLE %I ENABLE ALWAYS TRIGGER %I', of_resource, of_resource || '_deletions_' || operation);
     END LOOP;
   END $install$`;
