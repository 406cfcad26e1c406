import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { migrateDatabase } from '../schema/declared.js';
import { catalogue } from '../cli/catalogue.js';
import { until } from '../until.js';
import { OwnServer } from './own-server.js';

let server: OwnServer;

beforeAll(async () => {
  server = await OwnServer.create();
  await migrateDatabase(server.url);
  await server.query(`INSERT INTO categories ("categoryID", name) VALUES ('c', 'C')`);
});
afterAll(() => server.remove());

const FILE = `productID,type,categoryID\n${Array.from({ length: 6000 }, (_, at) => `p${at},SERVICE,c\n`).join('')}`;

const indexes = () =>
  server.query<{ definition: string }>(
    `SELECT indexrelid::text, pg_get_indexdef(indexrelid) AS definition FROM pg_index
     WHERE indrelid = 'products'::regclass ORDER BY 1`,
  );

it.each(['SIGINT', 'SIGQUIT'] as const)(
  'An empty resource is as it was after its server ends by %s while it is loaded',
  async (signal) => {
    const environment = { DATABASE_URL: server.url };
    const before = await indexes();
    const holder = new Client(server.url);
    holder.on('error', () => undefined);
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM categories FOR UPDATE');
    const imported = catalogue(['import', 'products', '-'], environment, FILE);
    await until(async () => {
      const rows = await server.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'INSERT INTO "products"'`,
      );
      return rows.length > 0;
    }, 60_000);
    await server.stop(signal);
    expect((await imported).status).toBe(1);
    await server.start();
    expect(await indexes()).toEqual(before);
    expect(await server.query('SELECT FROM products')).toEqual([]);
    expect((await catalogue(['verify'], environment)).status).toBe(0);
    await holder.end().catch(() => undefined);
  },
);
