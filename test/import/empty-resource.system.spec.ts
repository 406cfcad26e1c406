import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Client } from 'pg';
import { connectedTo } from '#server/testing/database.js';
import { imported } from '#server/testing/load-rows.js';
import type { ImportResult } from '#server/import/import-rows.js';
import { InvalidRowsError } from '#server/import/invalid-rows.js';
import { UnavailableResources } from '#server/list/reading/unavailable-resources.js';
import { Maintenance } from '#server/list/maintenance.js';
import { findViolations } from '#server/verify/verify.js';
import { BARE_ENVIRONMENT } from '../cli/catalogue.js';
import { definitionOf } from '../database/definition.js';
import { IN_THIS_DATABASE } from '../database/locks.js';
import { refusal, type Service, startService } from '../service.js';
import { until } from '../until.js';
import { advanceWatermark } from '../watermark.js';

/** Rows of a file. An import of so many drops the indexes of a resource that has at most a tenth as many objects. */
const MANY = 6000;
const FEW = MANY / 10;

let service: Service;
let other: Client;

beforeEach(async () => {
  service = await startService({ QUERY_TIMEOUT_MS: '60000' });
  await service.load('brands', [{ brandID: 'b', name: 'B' }]);
  await service.load('categories', [{ categoryID: 'c', name: 'C' }]);
  other = await connectedTo(service.database.url);
});
afterEach(async () => {
  await other.end();
  await service.stop();
});

const query = <Row = Record<string, unknown>>(sql: string) => service.dataSource.query<Row[]>(sql);

const products = (more: object = {}) =>
  Array.from({ length: MANY }, (_, at) => ({
    productID: `p${String((at * 7919) % MANY).padStart(5, '0')}`,
    type: ['PHYSICAL', 'DIGITAL', 'SERVICE'][at % 3],
    name: `Name ${at % 100} Wörd`,
    description: at % 5 === 0 ? null : `Text ${at % 7}`,
    brandID: at % 4 === 0 ? null : 'b',
    categoryID: 'c',
    price: at % 9 === 0 ? null : `${at % 500}.50`,
    currency: 'EUR',
    stock: at % 6 === 0 ? null : at % 3,
    ...more,
  }));

/** Imports products, and says how many were written. */
function load(objects: object[], options?: Parameters<typeof imported>[4]): Promise<ImportResult> {
  const lines = objects.map((object) => JSON.stringify(object)).join('\n');
  const metadata = service.dataSource.getMetadata('products');
  return imported(service.dataSource, metadata, 'ndjson', [Buffer.from(lines)], options);
}

/** The object ids of the indexes of products, by name. */
async function indexIDs(): Promise<Record<string, string>> {
  const rows = await query<{ name: string; id: string }>(
    `SELECT relname AS name, pg_class.oid::text AS id FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE indrelid = 'products'::regclass`,
  );
  return Object.fromEntries(rows.map(({ name, id }) => [name, id]));
}

/**
 * All that the database says of products, their indexes and tally, but for object ids and what was written.
 *
 * @param order of the indexes. Default: that in which they were created
 */
async function description(order = 'indexrelid'): Promise<unknown> {
  return {
    definition: await definitionOf(service.dataSource, 'products'),
    indexes: await query(
      `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid), indisclustered, indisreplident,
           obj_description(indexrelid, 'pg_class'), (
             SELECT string_agg(attstattarget::text, ',') FROM pg_attribute WHERE attrelid = indexrelid
           )
         FROM pg_index JOIN pg_class ON oid = indexrelid WHERE indrelid = 'products'::regclass ORDER BY ${order}`,
    ),
    tables: await query(
      `SELECT relname, relkind, relowner, relacl, reloptions, obj_description(oid, 'pg_class') FROM pg_class
         WHERE relname ~ '^products' ORDER BY relname`,
    ),
  };
}

/** The condition of `pg_locks` for a lock that locks out the readers of products. */
const LOCKS_OUT = `relation = 'products'::regclass AND mode = 'AccessExclusiveLock' AND ${IN_THIS_DATABASE}`;

/** Whether a session has locked out the readers of products. */
async function isLocked(): Promise<boolean> {
  const rows = await query(`SELECT FROM pg_locks WHERE granted AND ${LOCKS_OUT}`);
  return rows.length > 0;
}

/** Whether a session waits for a lock. */
async function isWaiting(): Promise<boolean> {
  const rows = await query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.length > 0;
}

describe('A resource without objects, or with few, that is loaded', () => {
  it('has its indexes built afterwards, and is then as it was', async () => {
    const [before, ids] = [await description(), await indexIDs()];
    await service.load('products', products());
    expect(await description()).toEqual(before);
    const now = await indexIDs();
    const kept = Object.keys(ids).filter((name) => now[name] === ids[name]);
    expect(kept).toEqual(['PK_caa33ce35fe9bdd6e7fd6268ac4']);
  });

  it('keeps indexes that refuse rows, or that are more than their definition', async () => {
    await query(`COMMENT ON INDEX products_by_price IS 'Of ours'`);
    await query('DROP INDEX products_by_stock');
    await query(
      'CREATE INDEX products_by_stock ON products (stock, "productID") WITH (fillfactor = 70)',
    );
    await query('CREATE INDEX ours ON products (lower(name)) WHERE price > 1');
    await query('CREATE INDEX counted ON products ((stock + 1))');
    await query('ALTER INDEX counted ALTER COLUMN 1 SET STATISTICS 500');
    await query('CREATE UNIQUE INDEX only_once ON products ("productID", type)');
    await query('CREATE ROLE reader_of_counts');
    try {
      await query('GRANT SELECT ON products_tally, products_tally_by_price TO reader_of_counts');
      await query('ALTER TABLE products DISABLE TRIGGER products_deletions_rename');
      const [before, ids] = [await description('relname'), await indexIDs()];
      await service.load('products', products());
      expect(await description('relname')).toEqual(before);
      const now = await indexIDs();
      const kept = Object.keys(ids).filter((name) => now[name] === ids[name]);
      expect(kept.sort()).toEqual(
        ['PK_caa33ce35fe9bdd6e7fd6268ac4', 'counted', 'only_once', 'products_by_price'].sort(),
      );
    } finally {
      await query('DROP OWNED BY reader_of_counts; DROP ROLE reader_of_counts');
    }
  });

  it('shows the same as one that has objects, be they few or many', async () => {
    const lists = [
      '/products?fields=productID,name,price,stock&limit=1000&offset=2500&sort=-price',
      '/products?type=DIGITAL&inStock=true&sort=name&limit=1000&fields=productID,type',
      '/products?q=wo*&brandID=b&limit=20&offset=1000&fields=productID',
      '/products?q=name%2042&fields=productID&sort=relevance',
      '/products?priceMin=100&priceMax=300&limit=100&offset=300&fields=productID',
      '/products?within=c&limit=5&fields=productID',
      '/facets/products?q=text',
    ];
    const answers = async () => {
      await service.application.get(Maintenance).complete('products');
      expect(await findViolations(service.application)).toEqual([]);
      const bodies = [];
      for (const list of lists) bodies.push((await service.get(list).expect(200)).body as unknown);
      return bodies;
    };
    const ids = await indexIDs();
    await service.load('products', products());
    expect(await indexIDs()).not.toEqual(ids);
    const fast = await answers();
    for (const present of [FEW, FEW + 1]) {
      await query('DELETE FROM products');
      const old = products({ name: 'Old', brandID: null, stock: 5 }).slice(0, present);
      await service.load('products', old);
      const before = await indexIDs();
      expect(await load(products())).toMatchObject({
        inserted: MANY - present,
        updated: present,
      });
      const keepsIndexes = isDeepStrictEqual(await indexIDs(), before);
      expect(keepsIndexes).toBe(present > FEW);
      expect(await answers()).toEqual(fast);
    }
  });

  it.each([{ replace: true, allowDeletes: true }, { dryRun: true }])(
    'keeps the indexes, and its readers, if it has objects and the import is %j',
    async (options) => {
      await service.load('products', [{ productID: 'old', type: 'SERVICE', brandID: 'b' }]);
      const ids = await indexIDs();
      expect(await load(products(), options)).toMatchObject({ inserted: MANY });
      expect(await indexIDs()).toEqual(ids);
      expect(await findViolations(service.application)).toEqual([]);
    },
  );

  it('tells another version before and after, and changes since before', async () => {
    const before = await service.get('/products').expect(200);
    await advanceWatermark(service.dataSource, 2);
    const { headers } = await service.get('/products?limit=1').expect(200);
    await service.load('products', products());
    const after = await service.get('/products').expect(200);
    expect(after.headers.etag).not.toBe(before.headers.etag);
    await service.get('/products').set('If-None-Match', String(before.headers.etag)).expect(200);
    const since = encodeURIComponent(String(headers['x-updated-until']));
    const changed = await service.get(`/products?updatedSince=${since}&limit=0`).expect(200);
    expect(changed.body.response_data.count).toBe(String(MANY));
  });

  it('may be a tree, in any order', async () => {
    await query('DELETE FROM categories');
    const tree = Array.from({ length: MANY }, (_, at) => ({
      categoryID: `c${at}`,
      parentID: at === MANY - 1 ? null : `c${at + 1}`,
      name: `C${at}`,
    }));
    const circle = tree.map((each) => ({ ...each, parentID: each.parentID ?? 'c0' }));
    await expect(service.load('categories', circle)).rejects.toThrow(/^Nothing was loaded/);
    await service.load('categories', tree);
    const { body } = await service.get(`/categories?within=c${MANY - 2}&limit=0`).expect(200);
    expect(body.response_data.count).toBe(String(MANY - 1));
    expect(await findViolations(service.application)).toEqual([]);
  });

  it('is as it was if rows are refused, by their lines', async () => {
    const [before, ids] = [await description(), await indexIDs()];
    const rows = products();
    Object.assign(rows[4242] ?? {}, { categoryID: 'none' });
    const error = await service.load('products', rows).catch((reason: unknown) => reason);
    expect((error as InvalidRowsError).lines()).toEqual([
      'line 4243, column categoryID: there is no categories object none',
    ]);
    expect(await description()).toEqual(before);
    expect(await indexIDs()).toEqual(ids);
    expect((await service.get('/products').expect(200)).body.response_data.count).toBe('0');
  });
});

describe('Beside a session that', () => {
  it('inserts objects, an import waits and keeps the indexes', async () => {
    await other.query('BEGIN');
    await other.query(
      `INSERT INTO products ("productID", type)
       SELECT 'p' || lpad(at::text, 5, '0'), 'SERVICE' FROM generate_series(0, ${FEW}) at`,
    );
    const ids = await indexIDs();
    const loaded = service.load('products', products());
    await until(isWaiting);
    await other.query('COMMIT');
    await loaded;
    expect(await indexIDs()).toEqual(ids);
    const { body } = await service.get('/products?limit=0').expect(200);
    expect(body.response_data.count).toBe(String(MANY));
    expect(await findViolations(service.application)).toEqual([]);
  });

  it('reads for long, an import keeps the indexes', async () => {
    await other.query('BEGIN');
    await other.query('SELECT FROM products');
    const ids = await indexIDs();
    await service.load('products', products());
    await other.query('ROLLBACK');
    expect(await indexIDs()).toEqual(ids);
    expect(await findViolations(service.application)).toEqual([]);
  });
});

describe('While an empty resource is loaded', () => {
  /** Keeps an import of products from its end, after it has locked them. */
  const hold = async () => {
    await other.query('BEGIN');
    await other.query(`SELECT FROM categories WHERE "categoryID" = 'c' FOR UPDATE`);
  };

  it('its lists are refused with -2 at once, and all others are answered and maintained', async () => {
    await hold();
    const loaded = service.load('products', products());
    await until(isLocked);
    service.application.get(Maintenance).start();
    const paths = ['/products?offset=', '/facets/products?limit=', '/products/p'];
    await until(() => service.application.get(UnavailableResources).loading.includes('products'));
    const refused = await Promise.all(
      Array.from({ length: 60 }, (_, at) => service.get(`${paths[at % 3] ?? ''}${at}`)),
    );
    for (const { status, body, headers } of refused) {
      expect(status).toBe(503);
      expect(body).toEqual(refusal(-2, 'The service is temporarily unavailable'));
      expect(headers['retry-after']).toBe('1');
    }
    await service.get('/products').set('Accept', 'text/csv').expect(503);
    for (const name of ['D', 'E']) {
      await query(`UPDATE brands SET name = '${name}'`);
      const { body } = await service.get('/brands').expect(200);
      expect(body.response_data.objects).toMatchObject([{ name }]);
      await service.get('/categories?within=c').expect(200);
      await service.get('/brands/b').expect(200);
    }
    await until(
      async () => (await query('SELECT FROM "brands_tally_by_nameOrder_deltas"')).length === 0,
    );
    const { rounds } = service.application.get(Maintenance);
    const { done } = rounds;
    await until(() => rounds.done > done + 1);
    expect(rounds.failed).toBe(0);
    expect(await isLocked()).toBe(true);
    await other.query('ROLLBACK');
    await loaded;
    await until(async () => (await service.get('/products')).status === 200);
    const { body } = await service.get('/products?limit=0').expect(200);
    expect(body.response_data.count).toBe(String(MANY));
  });

  it.each([
    ['the command', (child: number) => process.kill(child, 'SIGKILL')],
    [
      'its session',
      () => query(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE ${LOCKS_OUT}`),
    ],
  ])('nothing has changed once %s is killed, whenever that is', async (_, kill) => {
    const folder = await mkdtemp(join(tmpdir(), 'catalogue-loading-'));
    const path = join(folder, 'products.csv');
    const rows = products().map(({ productID, type }) => `${productID},${type ?? ''},c`);
    await writeFile(path, `productID,type,categoryID\n${rows.join('\n')}\n`);
    const [before, ids] = [await description(), await indexIDs()];
    // An index is built once this lock is free.
    await query(
      `CREATE FUNCTION wait_for_others() RETURNS event_trigger LANGUAGE plpgsql AS $$
       BEGIN PERFORM pg_advisory_xact_lock(4242); END $$`,
    );
    await query(
      `CREATE EVENT TRIGGER wait_for_others ON ddl_command_end WHEN TAG IN ('CREATE INDEX')
       EXECUTE FUNCTION wait_for_others()`,
    );
    const points = {
      insertion: hold,
      index: async () => {
        await other.query('BEGIN');
        await other.query('SELECT pg_advisory_xact_lock(4242)');
      },
    };
    for (const start of Object.values(points)) {
      await start();
      let child: ChildProcess;
      for (;;) {
        child = spawn(process.execPath, ['dist/main.js', 'import', 'products', path], {
          env: { ...BARE_ENVIRONMENT, DATABASE_URL: service.database.url },
          stdio: 'ignore',
        });
        const isReached = async () => (await isLocked()) && (await isWaiting());
        if (
          await until(isReached, 20_000).then(
            () => true,
            () => false,
          )
        )
          break;
        // On a busy machine others may keep it from its lock, and it takes the usual way.
        child.kill('SIGKILL');
        await query('TRUNCATE products, products_deletions CASCADE');
      }
      const ended = once(child, 'close');
      await kill(child.pid ?? 0);
      await ended;
      await other.query('ROLLBACK');
      await until(async () => !(await isLocked()));
      expect(await description()).toEqual(before);
      expect(await indexIDs()).toEqual(ids);
      expect((await service.get('/products').expect(200)).body.response_data.count).toBe('0');
    }
    await rm(folder, { recursive: true });
    await query('DROP EVENT TRIGGER wait_for_others; DROP FUNCTION wait_for_others()');
    expect(await findViolations(service.application)).toEqual([]);
    await service.load('products', products());
    expect(await findViolations(service.application)).toEqual([]);
  });
});
