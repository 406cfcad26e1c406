import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Maintenance } from '#server/list/maintenance.js';
import { despiteDeadlocks } from '../despite-deadlocks.js';
import { logLines } from '../log-lines.js';
import { refusal, type Service, startService } from '../service.js';
import { SchemaCheck } from '#server/schema/schema-check.js';
import { until } from '../until.js';

let service: Service;
let logged: string[];

beforeEach(async () => {
  service = await startService();
  await service.load('categories', [{ categoryID: 'c', name: 'C' }]);
  await service.load('products', [{ productID: 'p', type: 'PHYSICAL', categoryID: 'c' }]);
  logged = logLines('warn');
});
afterEach(async () => {
  jest.restoreAllMocks();
  await service.stop();
});

const query = (sql: string) => despiteDeadlocks(() => service.dataSource.query<unknown[]>(sql));

describe('Maintenance', () => {
  it('of a resource that fails does not stop that of the others', async () => {
    const keeper = service.application.get(Maintenance);
    const deltas = async (resource: string) =>
      (await query(`SELECT FROM ${resource}_tally_deltas`)).length;
    await query(`SELECT remove_tally('brands'), remove_deletions('brands')`);
    expect(await deltas('products')).toBeGreaterThan(0);
    keeper.start();
    await until(async () => (await deltas('products')) === 0 && (await deltas('categories')) === 0);
    await until(
      async () => (await query('SELECT FROM watermark WHERE until IS NOT NULL')).length > 0,
    );
    await until(() => keeper.rounds.failed >= 3);
    expect(keeper.rounds.done).toBe(0);
    expect([...logged].sort()).toEqual([
      'Maintenance of the deletions of brands fails: relation "brands_deletions" does not exist',
      'Maintenance of the tally of brands fails: relation "brands_tally_deltas" does not exist',
    ]);
    await query(`SELECT install_tally('brands', 'brandID', '{}', '{nameOrder}')`);
    await query(`SELECT install_deletions('brands', 'brandID')`);
    await until(() => keeper.rounds.done >= 2);
    expect(logged.slice(2).sort()).toEqual([
      'Maintenance of the deletions of brands works again',
      'Maintenance of the tally of brands works again',
    ]);
  });

  it('of a resource that fails is in the metrics, and the service is not ready until it is mended', async () => {
    const { application } = service;
    const ready = async () => (await service.anonymous().get('/health/ready')).status;
    const metrics = async () => (await service.anonymous().get('/metrics')).text;
    await application.get(SchemaCheck).start();
    application.get(Maintenance).start();
    await until(() => application.get(Maintenance).rounds.done >= 1);
    expect(await ready()).toBe(200);
    expect(await metrics()).toContain('catalogue_maintenance_failing{resource="brands"} 0');
    await query(`SELECT remove_tally('brands')`);
    await until(async () => (await ready()) === 503);
    await until(async () =>
      (await metrics()).includes('catalogue_maintenance_failing{resource="brands"} 1'),
    );
    expect(await metrics()).toContain('catalogue_maintenance_failing{resource="products"} 0');
    await service.get('/brands').expect(503, refusal(-2, 'The service is temporarily unavailable'));
    await service.get('/products').expect(200);
    await query(`SELECT install_tally('brands', 'brandID', '{}', '{nameOrder}')`);
    await until(async () => (await ready()) === 200);
    await service.get('/brands').expect(200);
    await until(async () =>
      (await metrics()).includes('catalogue_maintenance_failing{resource="brands"} 0'),
    );
  });

  it('of what is chosen seldom is repeated soon when it has failed', async () => {
    const [table, renamed] = ['products_tally_by_words_counted', 'scratch_words_counted'];
    await query(`ALTER TABLE ${table} RENAME TO ${renamed}`);
    service.application.get(Maintenance).start();
    const says = (end: string) =>
      logged.some((line) => line.startsWith(`Maintenance of the words of products ${end}`));
    await until(() => says('fails'));
    await query(`ALTER TABLE ${renamed} RENAME TO ${table}`);
    await until(() => says('works again'), 5000);
  });

  it('chooses the words that are counted', async () => {
    await query(
      `INSERT INTO products ("productID", type, name)
       SELECT 'p' || i, 'PHYSICAL', 'lamp' FROM generate_series(1, 6000) i`,
    );
    await query('ANALYZE products');
    service.application.get(Maintenance).start();
    const counted = `SELECT FROM products_tally_by_words_counted WHERE word = 'lamp' AND is_counted`;
    await until(async () => (await query(counted)).length === 1);
  });
});
