import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { ClientsService } from '../../src/clients/clients.service.js';
import { FacetCounts } from '../../src/list/facets/facet-counts.js';
import { FacetReader } from '../../src/list/facets/facet-reader.js';
import { ListReader } from '../../src/list/reading/list-reader.js';
import { migrationChanges } from '../../src/schema/migration-changes.js';
import { findViolations } from '../../src/verify/verify.js';
import { Random } from '../random.js';
import { type Service, startService } from '../service.js';
import { advanceWatermark } from '../watermark.js';
import {
  ListOrdersDto,
  MEMBERS,
  OrdersController,
  OrdersModule,
  OrderState,
} from './order.fixture.js';

/** The duration of the run; set SCOPE_SECONDS for a longer one. */
const SECONDS = Number(process.env.SCOPE_SECONDS ?? 6);
const WRITERS = 4;
const OWNERS = ['a', 'b', 'c', 'reader'];

/** What each client sees, in SQL. */
const SCOPES: Readonly<Record<string, string>> = {
  a: `"ownerID" = 'a'`,
  b: `"ownerID" = 'b'`,
  reader: `("ownerID" = 'reader' OR state = 'PUBLIC')`,
  auditor: 'true',
};

let service: Service;

const query = <Row>(sql: string, values: unknown[] = []) =>
  service.dataSource.query<Row[]>(sql, values);

beforeAll(async () => {
  service = await startService({ POOL_SIZE: '8' }, OrdersModule);
  await query(MEMBERS);
  for (const statement of (await migrationChanges(service.dataSource)).up) await query(statement);
  await query(`SELECT install_words('test_orders', '{note}')`);
});
afterAll(() => service.stop());

/** One statement at random. */
function change(random: Random): string {
  const one = () => `o${String(random.below(400)).padStart(3, '0')}`;
  const owner = () => random.pick(OWNERS);
  const state = () => random.pick(Object.values(OrderState));
  const kind = random.number();
  if (kind < 0.45) {
    return `INSERT INTO test_orders ("orderID", "ownerID", state, buyer, total, note)
      VALUES ('${one()}', '${owner()}', '${state()}', ${random.pick(["'ann'", "'bob'", 'NULL'])},
        ${random.pick([String(random.below(20)), 'NULL'])}, 'paper ${random.below(5)}')
      ON CONFLICT ("orderID") DO UPDATE SET total = excluded.total`;
  }
  if (kind < 0.65) {
    return `UPDATE test_orders SET "ownerID" = '${owner()}' WHERE "orderID" IN ('${one()}', '${one()}')`;
  }
  if (kind < 0.8) return `UPDATE test_orders SET state = '${state()}' WHERE "orderID" = '${one()}'`;
  if (kind < 0.85) {
    return `UPDATE test_orders SET "orderID" = 'x' || "orderID" WHERE "orderID" = '${one()}'
      AND NOT EXISTS (SELECT FROM test_orders other WHERE other."orderID" = 'x' || test_orders."orderID")`;
  }
  return `DELETE FROM test_orders WHERE "orderID" IN ('${one()}', 'x${one()}', '${one()}')`;
}

async function write(writer: number, isOver: () => boolean): Promise<void> {
  const random = new Random(`scope writer ${writer}`);
  const client = new Client(service.database.url);
  await client.connect();
  while (!isOver()) {
    try {
      await client.query('BEGIN');
      for (let step = random.below(4); step >= 0; step -= 1) await client.query(change(random));
      await client.query(random.chance(0.15) ? 'ROLLBACK' : 'COMMIT');
    } catch (error) {
      if (!/^(40|23505)/.test((error as { code?: string }).code ?? '')) throw error;
      await client.query('ROLLBACK');
    }
    await sleep(random.below(15));
  }
  await client.end();
}

/** A list at random, with its conditions in SQL and its order. */
function randomList(random: Random): { list: ListOrdersDto; where: string[]; order: string } {
  const list = new ListOrdersDto();
  const where: string[] = [];
  if (random.chance(0.3)) {
    list.state = random.pick([[OrderState.OPEN], [OrderState.OPEN, OrderState.PUBLIC]]);
    where.push(`state = ANY('{${list.state.join()}}')`);
  }
  if (random.chance(0.2)) {
    list.ownerID = random.pick([['a'], ['b'], ['a', 'b']]);
    where.push(`"ownerID" = ANY('{${list.ownerID.join()}}')`);
  }
  if (random.chance(0.2)) {
    list.buyer = ['ann'];
    where.push(`buyer = 'ann'`);
  }
  if (random.chance(0.2)) {
    list.totalMin = '7';
    where.push('total >= 7');
  }
  if (random.chance(0.15)) {
    list.q = 'paper 1';
    where.push(`note = 'paper 1'`);
  }
  if (random.chance(0.15)) {
    list.buyerOr = ['ann', 'bob'];
    where.push(`buyer IN ('ann', 'bob')`);
  }
  const orders = [
    [[], '"orderID"'],
    [[{ field: 'orderID', direction: 'DESC' }], '"orderID" DESC'],
    [[{ field: 'total', direction: 'ASC' }], 'total, "orderID"'],
    [[{ field: 'total', direction: 'DESC' }], 'total DESC NULLS LAST, "orderID" DESC'],
  ] as const;
  const [sort, order] = random.pick([...orders]);
  if (sort.length > 0) list.sort = sort;
  list.limit = random.below(12);
  list.offset = random.chance(0.5) ? random.below(60) : 0;
  list.fields = ['orderID'];
  return { list, where, order };
}

interface Plain {
  readonly version: string;
  readonly count: string;
  readonly all: string[];
  readonly states: Readonly<Record<string, string>> | null;
}

async function plain(where: readonly string[], order: string): Promise<Plain> {
  const matching = `FROM test_orders WHERE ${where.join(' AND ')}`;
  const [row] = await query<Plain>(
    `SELECT (SELECT sum(stamp)::text FROM resource_versions WHERE resource = 'test_orders') AS version,
       (SELECT count(*)::text ${matching}) AS count,
       ARRAY(SELECT "orderID"::text ${matching} ORDER BY ${order}) AS all,
       (SELECT json_object_agg(owner, count) FROM (
         SELECT "ownerID" AS owner, count(*)::text AS count ${matching} GROUP BY 1) owners) AS states`,
  );
  if (!row) throw new Error('There is one row');
  return row;
}

/** Compares lists, whole lists and facet counts with SQL as long as no write came in between. */
async function compare(reader: number, isOver: () => boolean): Promise<number> {
  const random = new Random(`scope reader ${reader}`);
  const { application } = service;
  const controller = application.get(OrdersController, { strict: false });
  const [lists, facets] = [application.get(ListReader), application.get(FacetReader)];
  let compared = 0;
  while (!isOver()) {
    const client = { clientID: random.pick(Object.keys(SCOPES)) };
    const { list, where, order } = randomList(random);
    const listing = controller.list(list);
    const all = [SCOPES[client.clientID] ?? 'false', ...where];
    const kind = random.number();
    const { limit = 0, offset = 0 } = list;
    if (kind < 0.6) {
      const page = await lists.prepare(listing, client).read();
      const expected = await plain(all, order);
      if (page.version !== expected.version) continue;
      const objects = (JSON.parse(page.objects) as { orderID: string }[]).map(
        ({ orderID }) => orderID,
      );
      expect({ client, list, count: page.count, objects }).toEqual({
        client,
        list,
        count: expected.count,
        objects: expected.all.slice(offset, offset + limit),
      });
    } else if (kind < 0.8) {
      const whole = lists.prepare(listing, client).whole('csv');
      const open = await whole.open(new AbortController().signal);
      let text = '';
      for await (const batch of open.batches) text += batch.text;
      await open.close();
      const expected = await plain(all, order);
      if (open.version !== expected.version) continue;
      const objects = text.trimEnd().split('\r\n').slice(1);
      expect({ client, list, count: open.count, objects }).toEqual({
        client,
        list,
        count: expected.count,
        objects: expected.all.slice(offset, offset + limit),
      });
    } else {
      const counts = new FacetCounts(controller.list(list), ['ownerID'], 100);
      const page = await facets.prepare(counts, client).read();
      const others = all.filter((each, at) => at === 0 || !each.startsWith('"ownerID"'));
      const expected = await plain(others, order);
      if (page.version !== expected.version) continue;
      const found = (JSON.parse(page.objects) as { value: string; count: string }[]).map(
        ({ value, count }) => [value, count],
      );
      expect({ client, list, found: Object.fromEntries(found) as object }).toEqual({
        client,
        list,
        found: expected.states ?? {},
      });
    }
    compared += 1;
  }
  return compared;
}

/** A copy of what a client sees, kept up to date by changes and deletions. */
class Copy {
  readonly objects = new Set<string>();
  private since: string | undefined;

  constructor(
    private readonly client: string,
    private readonly token: string,
  ) {}

  async round(): Promise<void> {
    const since = this.since;
    const changed = await this.read(
      `/test_orders?fields=orderID${since === undefined ? '' : `&updatedSince=${since}`}`,
    );
    for (const orderID of changed.identifiers) this.objects.add(orderID);
    if (since !== undefined) {
      const deleted = await this.read(
        `/deletions/test_orders?deletedSince=${since}&fields=orderID`,
      );
      for (const orderID of deleted.identifiers) this.objects.delete(orderID);
    }
    this.since = changed.until;
  }

  private async read(path: string): Promise<{ identifiers: string[]; until: string | undefined }> {
    const { text, headers } = await service
      .anonymous()
      .get(path)
      .set('X-Client-ID', this.client)
      .set('Authorization', `Bearer ${this.token}`)
      .set('Accept', 'text/csv')
      .expect(200);
    return {
      identifiers: text.trimEnd().split('\r\n').slice(1),
      until: headers['x-updated-until'],
    };
  }
}

describe('Under writers that move objects between clients', () => {
  it(
    'each client gets what SQL says, and its copy stays in step',
    async () => {
      const advance = () => query(`SELECT advance_watermark('1 ms')`);
      await advanceWatermark(service.dataSource, 2);
      const clients = service.application.get(ClientsService);
      const copies = new Map<string, Copy>();
      for (const client of Object.keys(SCOPES)) {
        await clients.create(client, {});
        copies.set(client, new Copy(client, (await clients.issue(client, null)).token));
      }
      const end = performance.now() + SECONDS * 1000;
      const isOver = () => performance.now() > end;
      const beat = async () => {
        while (!isOver()) {
          await advance();
          await sleep(30);
        }
      };
      let rounds = 0;
      const follow = async (copy: Copy) => {
        while (!isOver()) {
          await copy.round();
          rounds += 1;
        }
      };
      const writing = Array.from({ length: WRITERS }, (_, writer) => write(writer, isOver));
      const [compared] = await Promise.all([
        Promise.all([compare(1, isOver), compare(2, isOver)]),
        beat(),
        ...[...copies.values()].map(follow),
        ...writing,
      ]);
      for (const [client, copy] of copies) {
        await copy.round();
        const there = await query<{ orderID: string }>(
          `SELECT "orderID" FROM test_orders WHERE ${SCOPES[client] ?? ''} ORDER BY 1`,
        );
        expect([client, [...copy.objects].sort()]).toEqual([
          client,
          there.map(({ orderID }) => orderID),
        ]);
      }
      const total = compared[0] + compared[1];
      expect(total).toBeGreaterThan(20);
      expect(rounds).toBeGreaterThan(20);
      if (process.env.SCOPE_SECONDS) console.log(`${total} comparisons, ${rounds} rounds`);
      expect(await findViolations(service.application)).toEqual([]);
    },
    SECONDS * 1000 + 60_000,
  );
});
