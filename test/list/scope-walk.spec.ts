import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { ClientsService } from '../../src/clients/clients.service.js';
import { type KnownList, KnownLists } from '../../src/list/statement/known-lists.js';
import { migrationChanges } from '../../src/schema/migration-changes.js';
import { Random } from '../random.js';
import { type Service, startService } from '../service.js';
import { MEMBERS, OrdersModule } from './order.fixture.js';

/** What each client sees, in SQL. */
const SEEN: Readonly<Record<string, string>> = {
  a: `"ownerID" = 'a'`,
  b: `"ownerID" = 'b'`,
  reader: `("ownerID" = 'reader' OR state = 'PUBLIC')`,
  auditor: 'true',
};
const LISTS: Readonly<Record<string, string>> = {
  'sort=-total': `true ORDER BY total DESC NULLS LAST, "orderID" DESC`,
  'state=OPEN,PUBLIC&sort=total': `state IN ('OPEN', 'PUBLIC') ORDER BY total, "orderID"`,
  'buyer=ann': `buyer = 'ann' ORDER BY "orderID"`,
};

let service: Service;
const tokens = new Map<string, string>();

beforeAll(async () => {
  service = await startService({ PAGE_CACHE_MB: '0' }, OrdersModule);
  const query = (sql: string) => service.dataSource.query<unknown[]>(sql);
  await query(MEMBERS);
  for (const statement of (await migrationChanges(service.dataSource)).up) await query(statement);
  await query(
    `INSERT INTO test_orders ("orderID", "ownerID", state, buyer, total, note)
     SELECT 'o' || lpad(i::text, 5, '0'), (ARRAY['a', 'b', 'reader', 'c'])[1 + i % 4],
       (ARRAY['OPEN', 'SENT', 'PUBLIC']::test_order_state[])[1 + i % 3],
       (ARRAY['ann', 'bob', NULL])[1 + i % 5 % 3], CASE WHEN i % 7 > 0 THEN i * 7919 % 100 END, ''
     FROM generate_series(1, 3000) i`,
  );
  await query('ANALYZE test_orders');
  const clients = service.application.get(ClientsService);
  for (const client of Object.keys(SEEN)) {
    await clients.create(client, {});
    tokens.set(client, (await clients.issue(client, null)).token);
  }
});
afterAll(() => service.stop());

it('A walk of each client has the objects of its scope alone, beside the walks of others and writes', async () => {
  const random = new Random('walks of clients');
  const walks = Object.keys(SEEN).flatMap((client) =>
    Object.keys(LISTS).map((list) => ({ client, list, offset: 0 })),
  );
  const lookups = jest.spyOn(service.application.get(KnownLists), 'get');
  for (let step = 0; step < 240; step += 1) {
    // A walk goes on for some pages, so that pages are read ahead, and another one comes between.
    const walk = walks[Math.floor(step / 20) % walks.length];
    if (!walk) throw new Error('There are walks');
    const { client, list, offset } = walk;
    const limit = random.pick([20, 20, 20, 20, 20, 20, 7]);
    const { body } = await service
      .anonymous()
      .get(`/test_orders?${list}&fields=orderID&limit=${limit}&offset=${offset}`)
      .set({ 'X-Client-ID': client, Authorization: `Bearer ${tokens.get(client) ?? ''}` })
      .expect(200);
    const rows = await service.dataSource.query<{ orderID: string }[]>(
      `SELECT "orderID" FROM test_orders WHERE ${SEEN[client]} AND ${LISTS[list]}`,
    );
    expect([client, list, offset, body.response_data]).toEqual([
      client,
      list,
      offset,
      { count: String(rows.length), objects: rows.slice(offset, offset + limit) },
    ]);
    walk.offset = offset + limit < rows.length ? offset + limit : 0;
    if (step % 60 === 59) {
      // Objects that are known ahead of a walk go to another client.
      await service.dataSource.query(
        `UPDATE test_orders SET "ownerID" = CASE "ownerID" WHEN 'a' THEN 'b' ELSE 'a' END
         WHERE "ownerID" IN ('a', 'b') AND total % 10 = ${random.below(10)}`,
      );
    }
  }
  // Many of these pages were read by identifiers that were read ahead.
  const ahead = lookups.mock.results.filter(({ value }) => (value as KnownList | undefined)?.ahead);
  expect(ahead.length).toBeGreaterThan(20);
});
