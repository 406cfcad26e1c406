import { beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectedTo } from '#server/testing/database.js';
import { Random } from '#server/testing/random.js';
import { clientOf } from '../packages/client-of.js';
import { refusal, sharedService } from '../service.js';
import { until } from '../until.js';
import { advanceWatermark } from '../watermark.js';

/** The duration of the run beside writers; set MIRROR_SECONDS for a longer one. */
const SECONDS = Number(process.env.MIRROR_SECONDS ?? 6);
const WRITERS = 6;
const STOCK = 1000;

const service = sharedService({ POOL_SIZE: '6' });
const query = (sql: string) => service.dataSource.query<Record<string, unknown>[]>(sql);

beforeAll(async () => {
  await query(`INSERT INTO brands ("brandID", name) VALUES ('a', 'A'), ('b', 'B')`);
  await query(`INSERT INTO categories ("categoryID", name) VALUES ('c', 'C')`);
  await query(`INSERT INTO products ("productID", type, name, "brandID", stock) VALUES
    ('p', 'DIGITAL', 'P', 'a', 1), ('q', 'DIGITAL', 'Q', 'b', 2)`);
  await advanceWatermark(service.dataSource, 2);
});

const LINES = { Accept: 'application/x-ndjson' };
const get = (path: string, headers: Record<string, string> = {}) =>
  service.get(path).set({ ...LINES, ...headers });

/** The lines of a response, and its headers. */
async function changes(parameters: string, headers: Record<string, string> = {}) {
  const response = await get(`/changes?${parameters}`, headers).buffer(true).expect(200);
  const lines = response.text.split('\n').filter((line) => line !== '');
  return { lines: lines.map((line) => JSON.parse(line) as object), headers: response.headers };
}

describe('Changes', () => {
  it('are the objects of the resources in the order named, as in their lists', async () => {
    const { lines, headers } = await changes('resources=products,brands&fields=products.name');
    expect(lines).toEqual([
      { resource: 'products', object: { productID: 'p', name: 'P' } },
      { resource: 'products', object: { productID: 'q', name: 'Q' } },
      { resource: 'brands', object: expect.objectContaining({ brandID: 'a', name: 'A' }) },
      { resource: 'brands', object: expect.objectContaining({ brandID: 'b', name: 'B' }) },
    ]);
    expect(headers).toMatchObject({
      'x-total-count': '4',
      'content-type': 'application/x-ndjson; charset=utf-8',
      'x-updated-until': expect.stringMatching(/^2.*\.\d{28}Z$/),
    });
    const all = await changes('');
    const { text } = await get('/variants');
    expect(all.lines.length).toBe(5 + text.split('\n').length - 1);
  });

  it('are what changed since a time, and then what was deleted, in the reverse order', async () => {
    await advanceWatermark(service.dataSource, 3);
    const { headers } = await changes('resources=brands,products');
    const since = headers['x-updated-until'] ?? '';
    await query(`DELETE FROM products WHERE "productID" = 'p'`);
    await query(`DELETE FROM brands WHERE "brandID" = 'a'`);
    await query(`UPDATE brands SET name = 'B2' WHERE "brandID" = 'b'`);
    const { lines } = await changes(`resources=brands,products&since=${since}`);
    expect(lines).toEqual([
      { resource: 'brands', object: expect.objectContaining({ brandID: 'b', name: 'B2' }) },
      { resource: 'products', deleted: 'p' },
      { resource: 'brands', deleted: 'a' },
    ]);
  });

  it('have an entity tag of what is there, whatever time they are since, and wait for a change', async () => {
    const { headers } = await changes('resources=brands');
    const { etag = '', 'x-updated-until': since = '' } = headers;
    const path = `/changes?resources=brands&since=${since}`;
    const sent = { 'If-None-Match': etag, Prefer: 'wait=1' };
    const unchanged = await get(path, sent).expect(304);
    expect(unchanged.headers).toMatchObject({ etag, 'preference-applied': 'wait=1' });
    const later = unchanged.headers['x-updated-until'] ?? '';
    const waiting = changes(`resources=brands&since=${later}`, { ...sent, Prefer: 'wait=30' });
    await sleep(300);
    await query(`UPDATE brands SET name = 'B3' WHERE "brandID" = 'b'`);
    const { lines, headers: changed } = await waiting;
    expect(lines).toContainEqual({
      resource: 'brands',
      object: expect.objectContaining({ name: 'B3' }),
    });
    expect(changed.etag).not.toBe(etag);
    // Another set of resources is not the same.
    await get(`/changes?resources=categories&since=${later}`, sent).expect(200);
  });

  it.each([
    [
      'resources=brands,nothing',
      -25,
      expect.stringMatching(
        /^The parameter resources must not name nothing; it may name brands, categories, products, variants/,
      ),
    ],
    [
      'resources=brands&fields=brands.cost',
      -25,
      'The parameter fields must not name brands.cost; it may name brands.brandID, brands.name, brands.createdAt, brands.updatedAt',
    ],
    [
      'resources=brands&fields=products.name',
      -25,
      'The parameter fields must not name products.name; it may name brands.brandID, brands.name, brands.createdAt, brands.updatedAt',
    ],
    ['resources=', -22, 'The parameter resources must be names, separated by commas'],
    ['limit=1', -23, 'The parameter limit must not be present in this request'],
    ['since=yesterday', -22, expect.stringContaining('The parameter since must be')],
    [
      'since=2001-01-01T00:00:00Z',
      -26,
      expect.stringMatching(/^The parameter since must be between/),
    ],
  ])('refuse %s', async (parameters, errcode, message) => {
    const { status, body } = await get(`/changes?${parameters}`);
    expect([status, body]).toEqual([400, refusal(errcode, message as string)]);
  });

  it('are lines, and are refused to who does not accept them', async () => {
    const body = refusal(-27, 'Changes are sent as lines: send Accept: application/x-ndjson');
    await get('/changes', { Accept: 'application/json' }).expect(400, body);
    await get('/changes', { Accept: 'text/csv' }).expect(400, body);
    await service
      .anonymous()
      .head('/changes')
      .set({ ...service.headers, ...LINES })
      .expect(200);
  });

  it('miss none while a table is rewritten, for whose lock they wait', async () => {
    await advanceWatermark(service.dataSource, 3);
    const { headers } = await changes('resources=categories');
    const since = headers['x-updated-until'] ?? '';
    await query(`UPDATE categories SET name = 'C2' WHERE "categoryID" = 'c'`);
    const rewriting = service.dataSource.createQueryRunner();
    await rewriting.startTransaction();
    await rewriting.query('ALTER TABLE categories ADD COLUMN z double precision DEFAULT random()');
    const asked = changes(`resources=brands,categories&since=${since}`);
    await until(async () => {
      const waiting = await query(
        `SELECT FROM pg_locks WHERE NOT granted AND relation = 'categories'::regclass`,
      );
      return waiting.length > 0;
    });
    await rewriting.commitTransaction();
    await rewriting.release();
    expect((await asked).lines).toContainEqual({
      resource: 'categories',
      object: expect.objectContaining({ name: 'C2' }),
    });
    await query('ALTER TABLE categories DROP COLUMN z');
  });

  it('come for all who wait, although few whole lists are read at a time', async () => {
    const { headers } = await changes('resources=brands');
    const { etag = '', 'x-updated-until': since = '' } = headers;
    const sent = { ...LINES, 'If-None-Match': etag, Prefer: 'wait=30' };
    const path = `/changes?resources=brands&since=${since}`;
    const waiting = Array.from({ length: 20 }, async () => service.get(path).set(sent));
    await sleep(1000);
    await query(`UPDATE brands SET name = 'B4' WHERE "brandID" = 'b'`);
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it('are counted by the age of the copies of each client', async () => {
    await changes('resources=brands');
    await sleep(1000);
    const { text } = await service.anonymous().get('/metrics').expect(200);
    const name = `catalogue_copy_age_seconds{client="${service.clientID}"} `;
    const [, age = ''] = text.split(name);
    expect(parseFloat(age)).toBeGreaterThanOrEqual(1);
    expect(parseFloat(age)).toBeLessThan(5);
  });

  it('are those that a client may read', async () => {
    const as = async (clientID: string, options: object, parameters: string) => {
      const { headers } = await service.newClient(clientID, options);
      return service
        .anonymous()
        .get(`/changes?${parameters}`)
        .set({ ...headers, ...LINES });
    };
    const some = { resources: ['brands', 'products'], hidden: ['products.name'] };
    const { text, headers } = await as('some', some, '');
    expect(text).toMatch(/"brands"[^]*"products"/);
    expect(text).not.toMatch(/"(categories|variants)"|"name":"Q"/);
    expect(headers.etag).toBeUndefined();
    const forbidden = (resource: string) =>
      refusal(-15, `The resource ${resource} is not for this client`);
    expect((await as('other', some, 'resources=brands,variants')).body).toEqual(
      forbidden('variants'),
    );
    expect((await as('named', some, 'fields=products.name')).body.result.errcode).toBe('-25');
    const timeless = { hidden: ['brands.updatedAt'] };
    expect((await as('timeless', timeless, 'resources=brands')).body.result.errcode).toBe('-25');
    expect((await as('page', { isPublic: true }, '')).body).toEqual(
      refusal(-15, 'Changes are not for this client'),
    );
  });
});

/** A copy in memory, which is replaced when a round is complete. */
class Copy {
  readonly products = new Map<string, { brandID: string | null; stock: number | null }>();
  readonly brands = new Map<string, { name: string | null }>();
  private staged: (() => void)[] = [];

  readonly options = {
    save: () => undefined,
    begin: () => {
      this.staged = [];
    },
    commit: () => {
      for (const write of this.staged) write();
      this.check();
    },
  };

  readonly stores = {
    brands: this.storeOf('brandID', this.brands),
    products: this.storeOf('productID', this.products),
  };

  /** Each brand that a product has is there, and no stock was lost. */
  private check(): void {
    const brands = [...this.products.values()].flatMap(({ brandID }) => brandID ?? []);
    expect(brands.filter((brandID) => !this.brands.has(brandID))).toEqual([]);
    const stocks = [...this.products].flatMap(([id, { stock }]) =>
      id.startsWith('s') ? [stock] : [],
    );
    const sum = stocks.reduce<number>((total, stock) => total + (stock ?? 0), 0);
    const moved = Number(this.brands.get('moving')?.name);
    expect(sum + moved).toBe(10 * STOCK);
  }

  private storeOf<T extends object>(identifier: string, objects: Map<string, T>) {
    const staged = (write: () => void) => void this.staged.push(write);
    return {
      clear: () => {
        staged(() => {
          objects.clear();
        });
      },
      put: (put: readonly T[]) => {
        staged(() => {
          for (const each of put)
            objects.set((each as Record<string, string>)[identifier] ?? '', each);
        });
      },
      delete: (deleted: readonly string[]) => {
        staged(() => {
          for (const each of deleted) objects.delete(each);
        });
      },
    };
  }
}

/** Moves stock from a product to the name of a brand or back, and creates and deletes brands with a product. */
async function write(random: Random, isOver: () => boolean): Promise<void> {
  const client = await connectedTo(service.database.url);
  while (!isOver()) {
    const [id, amount] = [random.below(40), random.below(20) - 10];
    const kind = random.number();
    const statements =
      kind < 0.4
        ? [
            `UPDATE products SET stock = stock - ${amount} WHERE "productID" = 's${id % 10}'`,
            `UPDATE brands SET name = name::integer + ${amount} WHERE "brandID" = 'moving'`,
          ]
        : kind < 0.75
          ? [
              `INSERT INTO brands ("brandID", name) VALUES ('w${id}', 'W') ON CONFLICT DO NOTHING`,
              `INSERT INTO products ("productID", type, "brandID") VALUES ('w${id}', 'DIGITAL', 'w${id}')
               ON CONFLICT ("productID") DO UPDATE SET "brandID" = excluded."brandID"`,
            ]
          : [
              `DELETE FROM products WHERE "brandID" = 'w${id}'`,
              `DELETE FROM brands WHERE "brandID" = 'w${id}'`,
            ];
    try {
      await client.query('BEGIN');
      for (const statement of statements) {
        await client.query(statement);
        if (random.chance(0.2)) await sleep(random.below(30));
      }
      await client.query('COMMIT');
    } catch (error) {
      // Deadlocks, and a brand that has another product by now.
      if (!/^(40|23)/.test((error as { code?: string }).code ?? '')) throw error;
      await client.query('ROLLBACK');
    }
  }
  await client.end();
}

it(
  'A copy of several resources is at each of its commits what the source was at one moment',
  async () => {
    const products = Array.from({ length: 10 }, (_, at) => `('s${at}', 'DIGITAL', ${STOCK})`);
    await query(`INSERT INTO brands ("brandID", name) VALUES ('moving', '0')`);
    await query(`INSERT INTO products ("productID", type, stock) VALUES ${products.join()}`);
    const copy = new Copy();
    const mirror = clientOf(service).mirror(copy.stores, copy.options);
    await mirror.round();
    const end = performance.now() + SECONDS * 1000;
    const isOver = () => performance.now() > end;
    const writers = Array.from({ length: WRITERS }, (_, at) => write(new Random(`${at}`), isOver));
    const advance = async () => {
      while (!isOver()) await advanceWatermark(service.dataSource, 1).then(() => sleep(50));
    };
    const follow = async () => {
      while (!isOver()) await mirror.round();
    };
    await Promise.all([follow(), advance(), ...writers]);
    await mirror.round();
    const { rounds, begun } = mirror.status();
    expect(begun).toBe(1);
    expect(rounds).toBeGreaterThan(5);
    const there = await query('SELECT "productID", "brandID", stock FROM products');
    const copied = [...copy.products].map(([productID, { brandID, stock }]) => ({
      productID,
      brandID,
      stock,
    }));
    const sorted = (rows: object[]) => rows.map((row) => JSON.stringify(row)).sort();
    expect(sorted(copied)).toEqual(sorted(there));
    if (process.env.MIRROR_SECONDS) console.log(`${rounds} rounds`);
  },
  SECONDS * 1000 + 30_000,
);
