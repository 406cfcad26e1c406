import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import { DataSource } from 'typeorm';
import { migrate } from '#server/schema/migrate.js';
import { databaseOptions } from '#server/database/database-client.js';
import { MIGRATIONS } from '../project.js';
import { createDatabase, type TestDatabase } from '#server/testing/database.js';
import { schemaOf } from './definition.js';

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

const query = (text: string) => dataSource.query<Record<string, unknown>[]>(text);
const migrated = async () => (await migrate(database.url, { migrations: MIGRATIONS })).migrations;

describe('The functions of a database', () => {
  const CHANGED = `CREATE OR REPLACE FUNCTION search_text(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS 'SELECT NULL::text'`;
  const isChanged = async () => {
    const [row] = await query(`SELECT search_text('a') IS NULL AS changed`);
    return row?.changed;
  };

  it.each([
    ['an earlier version', `version = '0.9.9'`],
    ['this version, with another text', `digest = 'other'`],
    ['a version before this one was released', `version = version || '-rc.1', digest = 'other'`],
  ])('are replaced if they are of %s', async (_, set) => {
    await query(`UPDATE engine SET ${set} WHERE name = 'functions'`);
    await query(CHANGED);
    expect(await migrated()).toEqual(['engine functions']);
    expect(await isChanged()).toBe(false);
    expect(await migrated()).toEqual([]);
  });

  it('stay if they are of a later version, as beside an instance of that', async () => {
    await query(`UPDATE engine SET version = '1.10.0', digest = 'later' WHERE name = 'functions'`);
    await query(CHANGED);
    expect(await migrated()).toEqual([]);
    expect(await isChanged()).toBe(true);
  });

  it('are replaced beside a transaction that writes', async () => {
    await query(`UPDATE engine SET version = '0.9.9' WHERE name = 'functions'`);
    const writer = dataSource.createQueryRunner();
    try {
      await writer.query(
        `BEGIN; INSERT INTO products ("productID", type, name) VALUES ('p', 'PHYSICAL', 'Lamp')`,
      );
      const signal = AbortSignal.timeout(20_000);
      const { migrations } = await migrate(database.url, { migrations: MIGRATIONS, signal });
      expect(migrations).toEqual(['engine functions']);
      await writer.query('COMMIT');
    } finally {
      await writer.release();
    }
  });

  it('write those of the triggers of each resource again, without counting', async () => {
    const before = await schemaOf(dataSource);
    await query(
      `INSERT INTO products ("productID", type, name) VALUES ('p', 'PHYSICAL', 'Lamp');
       UPDATE tallies SET cuts = 7 WHERE resource = 'products'`,
    );
    for (const part of ['tally', 'words', 'deletions'])
      await query(
        `CREATE OR REPLACE FUNCTION keep_products_${part}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
      );
    await query(`UPDATE engine SET version = '0.9.9' WHERE name = 'functions'`);
    await migrated();
    expect(await schemaOf(dataSource)).toEqual(before);
    expect(await query(`SELECT cuts FROM tallies WHERE resource = 'products'`)).toEqual([
      { cuts: '7' },
    ]);
  });

  it('replace a disabled trigger of words, and compute the words of what was written without it', async () => {
    await query(`ALTER TABLE products DISABLE TRIGGER products_words;
      INSERT INTO products ("productID", type, name, words) VALUES ('p', 'PHYSICAL', 'Lamp', 'chair')`);
    await query(`UPDATE engine SET version = '0.9.9' WHERE name = 'functions'`);
    await migrated();
    expect(await query(`SELECT words @@ 'lamp' AS found FROM products`)).toEqual([{ found: true }]);
  });
});

describe('A database of a former version', () => {
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

  /** What those versions had besides, in a database that this version has created. */
  const FORMER = `
    DROP TABLE engine;
    INSERT INTO migrations (timestamp, name) VALUES (1764676800001, 'KnownBaseline1764676800001');
    ALTER TABLE tallies ADD tracked text, ADD tracking jsonb;
    CREATE FUNCTION track_table(text) RETURNS void LANGUAGE sql AS '';
    CREATE FUNCTION tally_covers(text, text[], text[], text[], text[]) RETURNS boolean LANGUAGE sql AS 'SELECT true';
    CREATE FUNCTION create_tally_function(text, text, text, text) RETURNS void LANGUAGE sql AS ''`;

  it.each([
    ['', FORMER],
    [
      ' that described a tally in another order',
      // As PostgreSQL happened to return the columns.
      `${FORMER};
       UPDATE tallies SET orders = replace(orders::text, '"type", "inStock"', '"inStock", "type"')::jsonb
       WHERE resource = 'products';
       SELECT refresh_tally('products')`,
    ],
    [' that tracked an external table', `${FORMER};${TRACKED}`],
  ])('%s gets the schema of a new one, and keeps its data', async (_, former) => {
    await query(`INSERT INTO brands ("brandID", name) VALUES ('b', 'B')`);
    const fresh = await schemaOf(dataSource);
    await query(former);
    expect(await schemaOf(dataSource)).not.toEqual(fresh);
    const steps = (await readdir('packages/server/src/database/engine')).map((name) =>
      name.slice(0, -4),
    );
    expect(await migrated()).toEqual([...steps, 'functions'].map((name) => `engine ${name}`));
    expect(await schemaOf(dataSource)).toEqual(fresh);
    expect(await query('SELECT name FROM brands')).toEqual([{ name: 'B' }]);
    const left = await query(
      `SELECT FROM tallies WHERE resource = 'items' UNION ALL SELECT FROM resource_versions WHERE resource = 'items'`,
    );
    expect(left).toEqual([]);
    if (former.includes('shop.items')) {
      await query(`INSERT INTO shop.items VALUES ('i2')`);
      expect(await query('SELECT id FROM shop.items')).toHaveLength(2);
    }
  });
});
