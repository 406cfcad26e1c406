import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { migrate } from '../../src/database/migrate.js';
import { LeaveExternalTables1795886100000 } from '../../src/database/migrations/1795886100000-leave-external-tables.js';
import { databaseOptions } from '../../src/database/options.js';
import { createDatabase, type TestDatabase } from './database.js';

let database: TestDatabase;
let dataSource: DataSource;

beforeEach(async () => {
  database = await createDatabase();
  dataSource = await new DataSource(databaseOptions(database.url)).initialize();
});
afterEach(async () => {
  await dataSource.destroy();
  await database.drop();
});

/** What tracking has installed for the resource `items` on a table of another schema. */
const TRACKED = `
  CREATE SCHEMA shop;
  CREATE TABLE shop.items (id text PRIMARY KEY);
  INSERT INTO tallies (resource, identifier, counted, tracked, orders)
  VALUES ('items', 'id', '{}', '"shop"."items"', '[{"kind": "identifiers", "of_column": null, "elements": [""]}]');
  CREATE TABLE items_tally (facet text, lowest text, count bigint);
  CREATE TABLE items_tally_deltas (LIKE items_tally);
  CREATE TABLE items_tally_changes (id text PRIMARY KEY, "changedAt" timestamptz(3));
  CREATE TABLE items_deletions (id text PRIMARY KEY, "deletedAt" timestamptz(3));
  INSERT INTO resource_versions (resource) VALUES ('items');
  CREATE FUNCTION keep_items_tally() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
  CREATE FUNCTION keep_items_changes() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
  CREATE TRIGGER items_tally_insert AFTER INSERT ON shop.items EXECUTE FUNCTION keep_items_tally();
  CREATE TRIGGER items_changes_insert AFTER INSERT ON shop.items EXECUTE FUNCTION keep_items_changes();
  INSERT INTO shop.items VALUES ('i1')`;

/** The definitions of everything in the schema of the service. */
async function schemaOf(): Promise<string[]> {
  const rows = await dataSource.query<{ line: string }[]>(
    `WITH relations AS (SELECT oid, relname FROM pg_class WHERE relnamespace = 'public'::regnamespace)
     SELECT concat_ws(' ', relname, attname, format_type(atttypid, atttypmod), attnotnull,
       (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum)) AS line
     FROM relations JOIN pg_attribute ON attrelid = relations.oid WHERE attnum > 0 AND NOT attisdropped
     UNION ALL SELECT pg_get_indexdef(indexrelid) FROM relations JOIN pg_index ON indrelid = oid
     UNION ALL SELECT pg_get_triggerdef(pg_trigger.oid) || tgenabled::text FROM relations JOIN pg_trigger ON tgrelid = relations.oid
     WHERE NOT tgisinternal
     UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'
     ORDER BY line`,
  );
  return rows.map(({ line }) => line);
}

it.each([
  ['never tracked a table', 'SELECT'],
  ['tracked one', TRACKED],
])('A database that %s gets the schema of a new one, and the table stays', async (_, installed) => {
  const fresh = await schemaOf();
  await before(installed);
  expect(await schemaOf()).not.toEqual(fresh);
  expect(await migrate(database.url)).toEqual([LeaveExternalTables1795886100000.name]);
  expect(await schemaOf()).toEqual(fresh);
  const left = await dataSource.query<object[]>(
    `SELECT FROM tallies WHERE resource = 'items' UNION ALL SELECT FROM resource_versions WHERE resource = 'items'`,
  );
  expect(left).toEqual([]);
  if (installed === TRACKED) {
    await dataSource.query(`INSERT INTO shop.items VALUES ('i2')`);
    expect(await dataSource.query('SELECT id FROM shop.items')).toHaveLength(2);
  }
});

/** Brings the database to before the migration. */
async function before(installed: string): Promise<void> {
  const runner = dataSource.createQueryRunner();
  await new LeaveExternalTables1795886100000().down(runner);
  await runner.release();
  await dataSource.query('DELETE FROM migrations WHERE name = $1', [
    LeaveExternalTables1795886100000.name,
  ]);
  await dataSource.query(installed);
}
