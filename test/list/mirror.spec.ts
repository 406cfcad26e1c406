import { expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectedTo } from '#server/testing/database.js';
import { Random } from '#server/testing/random.js';
import { deletedSince } from '../deleted.js';
import { sharedService } from '../service.js';
import { until } from '../until.js';
import { advanceWatermark } from '../watermark.js';
import { Mirror, shown } from './mirror.js';

/** The duration of the run; set MIRROR_SECONDS for a longer one. */
const SECONDS = Number(process.env.MIRROR_SECONDS ?? 6);
const WRITERS = 8;
const IDENTIFIERS = 300;

const service = sharedService({ POOL_SIZE: '6' });

/** Advances the watermark, as `Maintenance` does every second, with a smaller margin. */
async function advance(): Promise<void> {
  await service.dataSource.query(`SELECT advance_watermark('1 ms')`);
}

/**
 * The time that a list reports, once it is after another. Transactions in other databases of the server
 * hold the watermark up, too.
 */
async function reported(path: string, after: string): Promise<string> {
  let time = '';
  await until(async () => {
    await advance();
    const { headers } = await service.get(path).expect(200);
    time = headers['x-updated-until'] ?? '';
    return time > after;
  });
  return time;
}

/** One statement at random; `at` tells its value from every other. */
function change(random: Random, at: string): string {
  const one = () => `b${random.below(IDENTIFIERS)}`;
  const kind = random.number();
  if (kind < 0.35) {
    return `INSERT INTO brands ("brandID", name) VALUES ('${one()}', '${at}'), ('x${at}', '${at}')
            ON CONFLICT ("brandID") DO UPDATE SET name = excluded.name`;
  }
  if (kind < 0.6)
    return `UPDATE brands SET name = '${at}' WHERE "brandID" IN ('${one()}', '${one()}')`;
  if (kind < 0.75) return `UPDATE brands SET "brandID" = 'y${at}' WHERE "brandID" = '${one()}'`;
  if (kind < 0.78) return `DELETE FROM brands WHERE "brandID" ~ '^[xy].*${at.slice(-1)}$'`;
  return `DELETE FROM brands WHERE "brandID" = '${one()}'`;
}

/** Writes until `isOver`. Some transactions commit late, and some roll back. */
async function write(writer: number, isOver: () => boolean): Promise<number> {
  const random = new Random(`mirror writer ${writer}`);
  const client = await connectedTo(service.database.url);
  let committed = 0;
  for (let round = 0; !isOver(); round += 1) {
    try {
      await client.query(random.chance(0.3) ? 'BEGIN ISOLATION LEVEL REPEATABLE READ' : 'BEGIN');
      for (let step = 0; step < 3; step += 1) {
        if (step > 0 && random.chance(0.2)) await client.query('SAVEPOINT s');
        // Before the first it has its start and no id yet, so that it holds nothing up.
        if (random.chance(0.1)) await sleep(random.below(step === 0 ? 3000 : 200));
        await client.query(change(random, `${writer}-${round}-${step}`));
      }
      // Long after its writes bear their times.
      if (random.chance(0.05)) await sleep(random.below(1500));
      await client.query(random.chance(0.15) ? 'ROLLBACK' : 'COMMIT');
      committed += 1;
    } catch (error) {
      // Conflicts with other writers are expected.
      if (!(error as { code?: string }).code?.startsWith('40')) throw error;
      await client.query('ROLLBACK');
    }
    await sleep(random.below(5));
  }
  await client.end();
  return committed;
}

it.each([
  [
    'a clock that is set back again and again',
    (random: Random) => `${random.below(3000) - 2900} ms`,
  ],
  ['a clock that runs evenly', () => '1 ms'],
])(
  'A copy is kept in step by updatedSince and deletions, under eight writers and %s',
  async (_, margin) => {
    // Each run renames brands to the same identifiers.
    await service.dataSource.query('DELETE FROM brands');
    await advanceWatermark(service.dataSource, 2);
    const mirror = new Mirror(service, 'brands', 'brandID');
    const random = new Random('clock');
    const { rounds, written } = await mirror.follow({
      seconds: SECONDS,
      writers: WRITERS,
      write,
      margin: () => margin(random),
    });
    const there = await service.dataSource.query<{ brandID: string; name: string }[]>(
      'SELECT "brandID", name FROM brands',
    );
    const copy = [...mirror.objects.values()].map(shown).sort();
    expect(copy).toEqual(there.map(shown).sort());
    if (process.env.MIRROR_SECONDS) {
      const total = written.reduce((sum, count) => sum + count, 0);
      console.log(`${total} transactions, ${rounds} rounds, ${there.length} objects`);
    }
  },
  SECONDS * 1000 + 30_000,
);

it('A change that commits late is not earlier than the reported time', async () => {
  const late = await connectedTo(service.database.url);
  await late.query(`BEGIN; INSERT INTO brands ("brandID", name) VALUES ('late', 'L')`);
  // The clock must advance while the transaction is open.
  await sleep(30);
  for (let beats = 0; beats < 3; beats += 1) await advance();
  const { headers } = await service.get('/brands').expect(200);
  await late.query('COMMIT');
  await late.end();
  const since = headers['x-updated-until'] ?? '';
  const { body } = await service.get(`/brands?updatedSince=${since}&brandID=late`).expect(200);
  expect(body.response_data.count).toBe('1');
});

it('Cached pages and 304 report the time too, and it advances', async () => {
  const first = await service.get('/brands?limit=1').expect(200);
  const before = first.headers['x-updated-until'] ?? '';
  // The clock must advance by a millisecond.
  await sleep(5);
  const again = await reported('/brands?limit=1', before);
  const unchanged = await service
    .get('/brands?limit=1')
    .set('If-None-Match', first.headers.etag ?? '')
    .expect(304);
  const later = unchanged.headers['x-updated-until'] ?? '';
  expect(later.slice(0, 23)).toBe(again.slice(0, 23));
  // The log goes on, of which the mark has the position.
  expect(later >= again).toBe(true);
});

it('A watermark restored from another cluster is taken over by this one', async () => {
  await service.dataSource.query(`UPDATE watermark SET next_id = '9000000000000000000'`);
  const now = new Date().toISOString();
  // The clock must advance by a millisecond.
  await sleep(5);
  await reported('/brands?limit=2', now);
});

it('TRUNCATE is refused where it would empty more than its snapshot shows', async () => {
  const runner = service.dataSource.createQueryRunner();
  for (const level of ['REPEATABLE READ', 'SERIALIZABLE'] as const) {
    await runner.startTransaction(level);
    await expect(runner.query('TRUNCATE brands CASCADE')).rejects.toMatchObject({
      driverError: { code: '40001' },
    });
    await runner.rollbackTransaction();
  }
  await runner.release();
});

it('TRUNCATE is listed as deletions, except for objects that exist again', async () => {
  const since = new Date(Date.now() - 1000).toISOString();
  await service.load('categories', [
    { categoryID: 'a', name: 'A' },
    { categoryID: 'b', name: 'B' },
  ]);
  await service.dataSource.query('TRUNCATE categories CASCADE');
  await service.load('categories', [{ categoryID: 'b', name: 'B' }]);
  expect(await deletedSince(service, 'categories', since)).toEqual(['a']);
});
