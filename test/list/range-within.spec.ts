import { primaryPool } from '#server/private-api/database.js';
import { beforeAll, expect, it } from '@jest/globals';
import { TallyMaintenance } from '#server/tally/maintain.js';
import { Product } from '../../src/products/product.entity.js';
import { sharedService } from '../service.js';
import { until } from '../until.js';

// With one connection, whose statistics are read.
const service = sharedService({ PAGE_CACHE_MB: '0', POOL_SIZE: '1' });

const PRODUCTS = 12_000;
const SMALL = 40;

beforeAll(async () => {
  await service.dataSource.query(
    `INSERT INTO categories ("categoryID", name)
       SELECT unnest, 'C' FROM unnest('{small,large}' || ARRAY(SELECT 'c' || generate_series(0, 49)))`,
  );
  // So many categories that the planner expects few products in any.
  await service.dataSource.query(
    `INSERT INTO products ("productID", type, "categoryID", name, price, currency)
       SELECT 'p' || lpad(i::text, 5, '0'), 'DIGITAL', CASE WHEN i <= $1 THEN 'small' WHEN i % 50 = 0 THEN 'c' || i / 50 % 50 ELSE 'large' END,
         'n' || i % 100, i, 'EUR'
       FROM generate_series(1, $2::integer) i`,
    [SMALL, PRODUCTS],
  );
  await service.dataSource.query('VACUUM ANALYZE products');
  const metadata = service.dataSource.getMetadata(Product);
  const maintenance = new TallyMaintenance(service.dataSource, metadata);
  await until(() => maintenance.run());
});

interface Read {
  readonly count: string;
  readonly ids: readonly string[];
  /** The number of index entries and table rows of products that were read meanwhile. */
  readonly entries: number;
}

/** Reads a list, again if many entries were read: the maintenance of the service reads some, too. */
async function read(list: string): Promise<Read> {
  let attempt = await readOnce(list);
  for (let at = 0; at < 3 && attempt.entries >= 10 * SMALL; at += 1) {
    const { entries } = await readOnce(list);
    attempt = { ...attempt, entries: Math.min(attempt.entries, entries) };
  }
  return attempt;
}

async function readOnce(list: string): Promise<Read> {
  const pool = primaryPool(service.dataSource);
  const entries = async (): Promise<number> => {
    await pool.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await pool.query<{ entries: string }>(
      `SELECT sum(idx_tup_read) + (
         SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'products'
       ) AS entries FROM pg_stat_user_indexes WHERE relname = 'products'`,
    );
    return Number(rows[0]?.entries);
  };
  const before = await entries();
  const { body } = await service.get(`/products?${list}`).expect(200);
  const { count, objects } = body.response_data as { count: string; objects: Shown[] };
  const ids = objects.map(({ productID }) => productID).sort();
  return { count, ids, entries: (await entries()) - before };
}

interface Shown {
  readonly productID: string;
}

it.each(['name', '-price', 'productID'])(
  'An interval within a category is read by the rarer of both, sorted by %s, also after many updates',
  async (sort) => {
    // Often enough for one plan, if it were prepared.
    for (let at = 0; at < 20; at += 1) {
      const first = 6001 + at;
      const within = await read(
        `categoryID=large&priceMin=${first}&priceMax=${first + 8}&sort=${sort}`,
      );
      expect(within.ids).toEqual(productsFrom(first, first + 8));
      expect(within.entries).toBeLessThan(PRODUCTS / 3);
      const above = await read(`categoryID=large&priceMin=${PRODUCTS - 20 - at}&sort=${sort}`);
      expect(above.ids).toEqual(productsFrom(PRODUCTS - 20 - at, PRODUCTS));
      expect(above.entries).toBeLessThan(PRODUCTS / 3);
      const below = await read(`categoryID=small&priceMax=${PRODUCTS - at}&sort=${sort}`);
      expect(below.count).toBe(String(SMALL));
      expect(below.entries).toBeLessThan(10 * SMALL);
      // Half of the way, so that index-only scans have to visit many objects.
      if (at === 10) {
        await service.dataSource.transaction(async (manager) => {
          // A busy machine takes longer than a request may.
          await manager.query('SET LOCAL statement_timeout = 0');
          await manager.query(
            `UPDATE products SET stock = coalesce(stock, 0) + 1 WHERE price::integer % 3 = 0`,
          );
        });
      }
    }
  },
);

/** The products of the large category with these prices. */
function productsFrom(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
    .filter((price) => price % 50 > 0)
    .map((price) => `p${String(price).padStart(5, '0')}`);
}
