import { primaryPool } from '#server/private-api/database.js';
import { beforeAll, expect, it } from '@jest/globals';
import { sharedService } from '../service.js';
import { productWords } from './product-words.js';

// With one connection, whose statistics are read.
const service = sharedService({ PAGE_CACHE_MB: '0', POOL_SIZE: '1' });

beforeAll(async () => {
  await service.dataSource.query(
    `INSERT INTO categories ("categoryID", name) VALUES ('few', 'Few'), ('other', 'Other')`,
  );
  // One in 15 of the few have the common word, and one in 300 the rare one. All others have the common one.
  await service.dataSource.query(
    `INSERT INTO products ("productID", type, "categoryID", name)
       SELECT 'p' || lpad(i::text, 5, '0'), 'DIGITAL', CASE WHEN i <= 3000 THEN 'few' ELSE 'other' END,
         CASE WHEN i > 3000 OR i % 15 = 0 THEN 'common' END || CASE WHEN i % 300 = 0 THEN ' rare' ELSE '' END
       FROM generate_series(1, 12000) i`,
  );
  await service.dataSource.query('VACUUM ANALYZE products');
  await productWords(service).run();
});

/** The count and the first product of a list, and whether the index of words was read. */
async function read(list: string): Promise<readonly [string, string | undefined, boolean]> {
  const pool = primaryPool(service.dataSource);
  const scans = async (): Promise<number> => {
    await pool.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await pool.query<{ scans: string }>(
      `SELECT sum(idx_scan) AS scans FROM pg_stat_user_indexes
       JOIN pg_index USING (indexrelid) JOIN pg_class ON pg_class.oid = indexrelid
       JOIN pg_am ON pg_am.oid = relam WHERE amname = 'gin' AND pg_stat_user_indexes.relname = 'products'`,
    );
    return Number(rows[0]?.scans);
  };
  const before = await scans();
  const { body } = await service.get(`/products?${list}`).expect(200);
  const { count, objects } = body.response_data as {
    count: string;
    objects: { productID: string }[];
  };
  return [count, objects[0]?.productID, (await scans()) > before];
}

it('A common word is searched for in the objects with a value, and a rare one in the index of words', async () => {
  expect(await read('categoryID=few&q=common')).toEqual(['200', 'p00015', false]);
  expect(await read('categoryID=few&q=rare')).toEqual(['10', 'p00300', true]);
});
