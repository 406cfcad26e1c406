import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { TallyWords1764201600000 } from '../../src/database/migrations/1764201600000-tally-words.js';
import { CountRanges1764648000000 } from '../../src/database/migrations/1764648000000-count-ranges.js';
import { findViolations } from '../../src/verify/verify.js';
import { trackStatements } from '../list/track-statements.js';
import { type Service, startService } from '../service.js';

let service: Service;

beforeAll(async () => {
  service = await startService({ PAGE_CACHE_MB: '0' });
});
afterAll(() => service.stop());

const query = <Row>(text: string) => service.dataSource.query<Row[]>(text);

function write(from: number, count: number): Promise<unknown[]> {
  return query(
    `INSERT INTO products ("productID", type, name, price, currency)
     SELECT 'p' || i, (ARRAY['PHYSICAL', 'DIGITAL'])[1 + i % 2]::product_type, 'lamp', i % 7, 'EUR'
     FROM generate_series(${from}, ${from + count - 1}) i`,
  );
}

/** The number of products of a type by the tally, whatever function keeps it. */
async function tallied(): Promise<number> {
  const [{ count }] = (await query<{ count: string }>(
    `SELECT sum(count) AS count FROM (
       SELECT * FROM products_tally UNION ALL SELECT * FROM products_tally_deltas
     ) every WHERE facet = 'type=DIGITAL'`,
  )) as [{ count: string }];
  return Number(count);
}

it('A catalogue goes back to tallies without words and forth, and each keeps counting', async () => {
  await write(0, 1500);
  const runner = service.dataSource.createQueryRunner();
  const migration = new TallyWords1764201600000();
  const later = new CountRanges1764648000000();
  try {
    // A tracked table of others needs all functions of the later migrations.
    await query('SELECT untrack_table(resource) FROM tallies WHERE tracked IS NOT NULL');
    await later.down(runner);
    await migration.down(runner);
    await write(1500, 10);
    expect(await tallied()).toBe(755);
    await expect(query('SELECT FROM products_tally_by_words')).rejects.toThrow('does not exist');
    await migration.up(runner);
    await later.up(runner);
    for (const statement of trackStatements(service.dataSource)) await query(statement);
  } finally {
    await runner.release();
  }
  expect(await tallied()).toBe(755);
  await write(2000, 1200);
  await write(4000, 1);
  await query(`UPDATE products SET type = 'DIGITAL', price = price + 1`);
  await query(`DELETE FROM products WHERE "productID" < 'p3'`);
  const [{ count }] = (await query<{ count: string }>('SELECT count(*) FROM products')) as [
    { count: string },
  ];
  expect(await tallied()).toBe(Number(count));
  expect(await findViolations(service.application)).toEqual([]);
});

it('The names of columns do not collide with those in the statements of the triggers', async () => {
  const names = ['step', 'word', 'facet', 'total', 'lowest', 'key', 'count', 'object'];
  await query(
    `CREATE TABLE odds ("oddID" varchar(100) COLLATE "C" PRIMARY KEY, value integer, words tsvector,
       ${names.map((name) => `"${name}" text`).join(', ')})`,
  );
  await query(`INSERT INTO odds ("oddID", step) VALUES ('first', 'a')`);
  await query(
    `SELECT install_tally('odds', 'oddID', '{${names.join()},step+word}', '{value}', '{words}')`,
  );
  await query(`INSERT INTO odds_tally_by_words_counted VALUES ('lamp', true)`);
  const insertion = (from: number, count: number): string =>
    `INSERT INTO odds ("oddID", value, words, ${names.map((name) => `"${name}"`).join(', ')})
     SELECT 'o' || i, i, 'lamp', ${names.map(() => `'a'`).join(', ')}
     FROM generate_series(${from}, ${from + count - 1}) i`;
  await query(insertion(0, 1500));
  await query(insertion(1500, 1));
  await query(`UPDATE odds SET step = 'b', words = 'torch' WHERE "oddID" = 'o1'`);
  await query(`DELETE FROM odds WHERE "oddID" = 'o2'`);
  const tallied = (table: string, facet: string) =>
    query(
      `SELECT sum(count)::integer AS count FROM (
         SELECT facet, count FROM ${table} UNION ALL SELECT facet, count FROM ${table}_deltas
       ) every WHERE facet = '${facet}'`,
    );
  expect(await tallied('odds_tally', 'step=a')).toEqual([{ count: 1500 }]);
  expect(await tallied('odds_tally', 'step+word=1:aa')).toEqual([{ count: 1499 }]);
  expect(await tallied('odds_tally_by_value', '')).toEqual([{ count: 1500 }]);
  expect(await tallied('odds_tally_by_words', 'step=a')).toEqual([{ count: 1499 }]);
  expect(await tallied('odds_tally_by_words', '')).toEqual([{ count: 1499 }]);
});
