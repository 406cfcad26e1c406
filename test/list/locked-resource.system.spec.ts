import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Client } from 'pg';
import { connectedTo } from '#server/testing/database.js';
import { Maintenance } from '#server/list/maintenance.js';
import { type Service, startService } from '../service.js';
import { until } from '../until.js';

/** Those that reads of one resource by one client may use. */
const CONNECTIONS = 3;

let service: Service;
let holder: Client;

beforeEach(async () => {
  service = await startService({ QUERY_TIMEOUT_MS: '60000', POOL_SIZE: '6' });
  await service.load('brands', [{ brandID: 'b', name: 'B' }]);
  await service.load('products', [{ productID: 'p', type: 'PHYSICAL' }]);
  holder = await connectedTo(service.database.url);
});
afterEach(async () => {
  await holder.end();
  await service.stop();
});

const query = (sql: string) => service.dataSource.query<unknown[]>(sql);

/** How many sessions of this database wait for a lock. */
async function waiting(): Promise<number> {
  const rows = await query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.length;
}

const held = {
  'a lock on its table': ['BEGIN', 'LOCK TABLE products IN ACCESS EXCLUSIVE MODE'],
  'a TRUNCATE that is not committed': ['BEGIN', 'TRUNCATE products CASCADE'],
};

describe('Other resources', () => {
  it.each(Object.entries(held))('are served and maintained beside %s', async (_, statements) => {
    for (const statement of statements) await holder.query(statement);
    const products = Promise.all(
      Array.from({ length: CONNECTIONS }, (_, at) =>
        service.get(`/products?limit=${at + 1}`).expect(200),
      ),
    );
    await until(async () => (await waiting()) >= CONNECTIONS);
    service.application.get(Maintenance).start();
    const tags = new Set<string>();
    for (const name of ['C', 'D']) {
      await query(`UPDATE brands SET name = '${name}'`);
      const page = await service.get('/brands').expect(200);
      expect(page.body.response_data.objects).toMatchObject([{ name }]);
      const tag = String(page.headers.etag);
      await service.get('/brands').set('If-None-Match', tag).expect(304);
      await service.get('/brands/b').expect(200);
      await service.get('/brands').set('Accept', 'application/x-ndjson').expect(200);
      await service.get('/categories?sort=-name').expect(200);
      tags.add(tag);
    }
    expect(tags.size).toBe(2);
    await until(
      async () =>
        (await query('SELECT FROM "brands_tally_by_nameOrder_deltas"')).length === 0 &&
        (await query(`SELECT FROM resource_versions WHERE resource = 'brands'`)).length === 1,
    );
    expect(await waiting()).toBeGreaterThanOrEqual(CONNECTIONS);
    await holder.query('ROLLBACK');
    await products;
  });

  it('are served beside a writer that does not end', async () => {
    await holder.query('BEGIN');
    await holder.query(`UPDATE products SET name = 'late'`);
    service.application.get(Maintenance).start();
    for (const path of ['/brands', '/products', '/products?type=PHYSICAL&sort=-price']) {
      const { headers } = await service.get(path).expect(200);
      await service.get(path).set('If-None-Match', String(headers.etag)).expect(304);
    }
    await query(`INSERT INTO products ("productID", type) VALUES ('q', 'DIGITAL')`);
    const { body } = await service.get('/products').expect(200);
    expect(body.response_data.count).toBe('2');
    await until(async () => (await query('SELECT FROM products_tally_deltas')).length === 0);
    await holder.query('ROLLBACK');
  });
});
