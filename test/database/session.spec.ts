import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClientsService } from '#server/clients/clients.service.js';
import { migrateDatabase } from '../schema/declared.js';
import { primaryPool } from '#server/private-api/database.js';
import { createProbe, Replica } from '#server/database/replicas.js';
import { ReservedConnections } from '#server/database/reserved-connections.js';
import { Snapshot } from '#server/database/read-pool.js';
import { externalTableNamed } from '#server/resource/declaration.js';
import { lineOf } from '#server/schema/difference.js';
import { differences } from '#server/schema/differences.js';
import { findViolations } from '#server/verify/verify.js';
import { refusal, type Service, sharedService, startService } from '../service.js';
import { connectedTo, createDatabase, type TestDatabase } from '#server/testing/database.js';

/** A schema, as in SQL: its name needs quotes. */
const SCHEMA = '"My Shop"';

/** Settings by which values and statements mean something else. */
const MEANINGS = {
  IntervalStyle: 'iso_8601',
  TimeZone: 'Asia/Kathmandu',
  standard_conforming_strings: 'off',
  quote_all_identifiers: 'on',
  extra_float_digits: '-15',
  bytea_output: 'escape',
  search_path: `${SCHEMA}, public`,
  default_transaction_isolation: 'serializable',
  array_nulls: 'off',
  transform_null_equals: 'on',
  gin_fuzzy_search_limit: '1',
};
/** Limits in milliseconds, which end sessions and statements. */
const LIMITS = {
  statement_timeout: '1000',
  lock_timeout: '100',
  idle_in_transaction_session_timeout: '1000',
  idle_session_timeout: '1000',
  // From PostgreSQL 17.
  transaction_timeout: '1000',
};
const PAUSE = 1500;

/** What every session of the service has. */
const EXPECTED = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  standard_conforming_strings: 'on',
  quote_all_identifiers: 'off',
  extra_float_digits: '1',
  bytea_output: 'hex',
  default_transaction_isolation: 'read committed',
  array_nulls: 'on',
  transform_null_equals: 'off',
  gin_fuzzy_search_limit: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  jit: 'off',
};

const PRODUCTS = Array.from({ length: 300 }, (_, at) => ({
  productID: `p-${String(at).padStart(3, '0')}`,
  type: at % 3 === 0 ? 'DIGITAL' : 'PHYSICAL',
  name: `Café number ${at} \\ 'quoted'`,
  price: `${at}.10`,
  currency: 'EUR',
  stock: at,
  colours: at % 2 === 0 ? `["red","${at % 5}"]` : null,
}));

const LISTS = [
  '/products?limit=20&sort=-price&fields=productID,price,colours,name',
  '/products?q=cafe+quot*&limit=3&fields=productID,name',
  '/products?sort=relevance&q=cafe+17&limit=3&fields=productID',
  '/products?priceMin=17&priceMax=40&type=DIGITAL&sort=name&offset=3&limit=4&fields=productID',
  '/products?colours=red,3&limit=5&fields=productID,colours',
  '/products?createdSince=2026-03-04T05:06:07.008Z&createdUntil=2026-03-04T05:08:00Z&fields=productID,createdAt',
  '/facets/products?q=cafe',
  '/facets/products?facets=createdAt&bounds=2026-03-04T05:07:00Z,2026-03-04T05:08:00Z',
];

const plain = sharedService();
let expected: string[];

beforeAll(async () => {
  await fill(plain);
  expected = await answers(plain);
});
afterEach(() => {
  jest.restoreAllMocks();
});

async function fill(service: Service): Promise<void> {
  await service.load('products', PRODUCTS);
  await service.dataSource.query(
    `UPDATE products SET "createdAt" = '2026-03-04T05:06:07Z'::timestamptz + stock * '0.8 s'::interval`,
  );
}

const answers = (service: Service): Promise<string[]> =>
  Promise.all(LISTS.map(async (path) => (await service.get(path).expect(200)).text));

/** A database whose sessions have settings unless they set others. */
async function databaseWith(
  settings: Record<string, string>,
  options?: { migrated: boolean },
): Promise<TestDatabase> {
  const database = await createDatabase(options);
  const client = await connectedTo(database.url);
  await client.query(`CREATE SCHEMA ${SCHEMA}`);
  const { rows } = await client.query<{ name: string; path: string }>(
    `SELECT current_database() AS path, name FROM pg_settings WHERE name = ANY ($1)`,
    [Object.keys(settings)],
  );
  for (const { path, name } of rows) {
    const value = settings[name] ?? '';
    const values = name === 'search_path' ? value : `'${value}'`;
    await client.query(`ALTER DATABASE "${path}" SET ${name} = ${values}`);
  }
  await client.end();
  return database;
}

describe.each(['German', 'SQL, DMY', 'Postgres'])(
  'A database with the DateStyle %s, and with limits',
  (DateStyle) => {
    let database: TestDatabase;
    let service: Service;

    beforeAll(async () => {
      database = await databaseWith({ DateStyle, ...MEANINGS, ...LIMITS }, { migrated: false });
      await migrateDatabase(database.url);
      service = await startService({ DATABASE_URL: database.url });
      await fill(service);
    });
    afterAll(async () => {
      await service.stop();
      await database.drop();
    });

    it('matches the entities, and verify finds nothing', async () => {
      const found = await differences(service.dataSource);
      // Migrations create no external tables, which a project may list.
      const ofOthers = found.filter(({ resource = '' }) => externalTableNamed(resource));
      expect(found).toEqual(ofOthers);
      expect(await findViolations(service.application)).toEqual(ofOthers.map(lineOf));
    });

    it('has the lists and facets of any other', async () => {
      expect(await answers(service)).toEqual(expected);
    });

    it('refuses an expired token, and accepts one that is good', async () => {
      const clients = service.application.get(ClientsService);
      const { clientID } = service;
      const ask = async (lifetime: number) => {
        const { token } = await clients.issue(clientID, lifetime);
        return service.anonymous().get(`/brands?clientID=${clientID}&access_token=${token}`);
      };
      const refused = await ask(-1000);
      expect(refused.body).toEqual(refusal(-12, 'The access token has expired'));
      expect((await ask(60_000)).status).toBe(200);
    });
  },
);

describe('A session', () => {
  let database: TestDatabase;
  let service: Service;

  beforeAll(async () => {
    database = await databaseWith({ DateStyle: 'German', ...MEANINGS, ...LIMITS });
    service = await startService({ DATABASE_URL: database.url, QUERY_TIMEOUT_MS: '4000' });
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  const shown = Object.keys({ ...EXPECTED, statement_timeout: '' })
    .map((name) => `current_setting('${name}') AS "${name}"`)
    .join(', ');
  const SHOW = `SELECT ${shown}, coalesce(current_setting('transaction_timeout', true), '0') AS transaction_timeout`;
  const settings = (statement_timeout: string) => ({
    ...EXPECTED,
    statement_timeout,
    transaction_timeout: '0',
  });

  it('has its settings on every connection of the service', async () => {
    const reserved = service.application.get(ReservedConnections);
    const probe = createProbe(database.url);
    const replica = new Replica(database.url, { poolSize: 1, queryTimeout: 3000 });
    expect(await service.dataSource.query(SHOW)).toEqual([settings('4s')]);
    expect(await (await reserved.connected()).query(SHOW)).toEqual([settings('5s')]);
    expect((await probe.query(SHOW)).rows).toEqual([settings('0')]);
    expect((await replica.pool.query(SHOW)).rows).toEqual([settings('3s')]);
    await reserved.withoutTimeLimit(async (client) => {
      expect((await client.query(SHOW)).rows).toEqual([settings('0')]);
      return true;
    });
    await Promise.all([probe.end(), replica.close()]);
  });

  it('is not ended at rest, in a transaction, and while it waits for a lock', async () => {
    await service.load('products', PRODUCTS.slice(0, 1));
    const snapshot = await Snapshot.open(primaryPool(service.dataSource));
    const runner = service.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('UPDATE products SET stock = stock');
    const lost = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    const loading = service.load('products', PRODUCTS.slice(0, 1));
    await sleep(PAUSE);
    await runner.rollbackTransaction();
    await runner.release();
    await loading;
    expect(await snapshot.rows('SELECT 1')).toEqual([['1']]);
    await snapshot.close();
    expect(lost).not.toHaveBeenCalled();
  });

  it('has its settings despite options of the URL, of which those of others hold', async () => {
    const url = new URL(database.url);
    const given = { DateStyle: 'SQL', work_mem: '7MB', jit: 'on', search_path: SCHEMA };
    const options = Object.entries(given).map(
      ([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`,
    );
    url.searchParams.set('options', options.join(' '));
    const probe = createProbe(url.href);
    const { rows } = await probe.query(
      `SELECT current_setting('DateStyle') AS style, current_setting('work_mem') AS memory,
         current_setting('jit') AS jit, current_schema() AS schema,
         current_setting('parallel_setup_cost') AS cost`,
    );
    await probe.end();
    expect(rows).toEqual([
      { style: 'ISO, MDY', memory: '7MB', jit: 'on', schema: 'My Shop', cost: '20000' },
    ]);
  });

  it.each([
    ['-c jit_above_cost=5', { jit: 'off', cost: '20000' }],
    ['-cjit=on --Parallel-Setup-Cost=5', { jit: 'on', cost: '5' }],
  ])('has its preferences but for those that the options %s set', async (options, expected) => {
    const url = new URL(database.url);
    url.searchParams.set('options', options);
    const probe = createProbe(url.href);
    const { rows } = await probe.query(
      `SELECT current_setting('jit') AS jit, current_setting('parallel_setup_cost') AS cost`,
    );
    await probe.end();
    expect(rows).toEqual([expected]);
  });

  it.each([
    ['the schema of the tables first', `${SCHEMA}, public`, 'public'],
    ['public where no schema exists', `''`, 'public'],
  ])('has %s in its path', async (_what, path, schema) => {
    const other = await databaseWith({ search_path: path });
    const probe = createProbe(other.url);
    const { rows } = await probe.query('SELECT current_schema() AS schema');
    await probe.end();
    await other.drop();
    expect(rows).toEqual([{ schema }]);
  });
});
