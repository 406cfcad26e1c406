import { describe, expect, it } from '@jest/globals';
import { findViolations } from '#server/verify/verify.js';
import { deletedSince } from '../deleted.js';
import { sharedService } from '../service.js';
import { advanceWatermark } from '../watermark.js';
import { Mirror, shown } from './mirror.js';

const service = sharedService();

const advance = (margin?: string) => advanceWatermark(service.dataSource, 3, margin);

describe('When the clock of the database was ten minutes ahead and is set back', () => {
  const query = (text: string) => service.dataSource.query<unknown>(text);
  const until = async () =>
    (await service.get('/brands?limit=1').expect(200)).headers['x-updated-until'] ?? '';
  const ahead = () => advance('-10 minutes');

  it('a copy has every change within two rounds', async () => {
    await query(
      `INSERT INTO brands ("brandID", name) VALUES ('c1', 'A'), ('c2', 'B'), ('c3', 'C'), ('c4', 'D')`,
    );
    await ahead();
    const mirror = new Mirror(service, 'brands', 'brandID');
    await mirror.round();
    expect(Date.parse(`${mirror.cursor?.slice(0, 23)}Z`) - Date.now()).toBeGreaterThan(590_000);
    await query(`INSERT INTO brands ("brandID", name) VALUES ('c5', 'E')`);
    await query(`UPDATE brands SET name = 'changed' WHERE "brandID" = 'c1'`);
    await query(`DELETE FROM brands WHERE "brandID" = 'c2'`);
    await query(`UPDATE brands SET "brandID" = 'c6' WHERE "brandID" = 'c3'`);
    for (let rounds = 0; rounds < 2; rounds += 1) {
      await advance();
      await mirror.round();
    }
    const there = await service.dataSource.query<Record<string, unknown>[]>('SELECT * FROM brands');
    expect([...mirror.objects.values()].map(shown).sort()).toEqual(there.map(shown).sort());
  });

  it('a copy has the deletions of TRUNCATE', async () => {
    await query(`INSERT INTO categories ("categoryID", name) VALUES ('c1', 'A')`);
    await ahead();
    const mirror = new Mirror(service, 'categories', 'categoryID');
    await mirror.round();
    await query('TRUNCATE categories CASCADE');
    await advance();
    await mirror.round();
    expect(mirror.objects.size).toBe(0);
  });

  it('a snapshot from before the watermark gives no earlier time', async () => {
    const early = service.dataSource.createQueryRunner();
    await early.startTransaction('REPEATABLE READ');
    await early.query('SELECT FROM brands');
    await ahead();
    const since = await until();
    await early.query(`INSERT INTO brands ("brandID", name) VALUES ('early', 'E')`);
    await early.commitTransaction();
    await early.release();
    const { body } = await service.get(`/brands?updatedSince=${since}&brandID=early`).expect(200);
    expect(body.response_data.count).toBe('1');
  });

  it('a writer with rights on the table alone gives no earlier time', async () => {
    const role = `writer_of_brands_${process.pid}`;
    await query(`CREATE ROLE ${role}`);
    await query(`GRANT INSERT, DELETE, SELECT ON brands TO ${role}`);
    await ahead();
    const since = await until();
    await service.dataSource.transaction(async (manager) => {
      await manager.query(`SET LOCAL ROLE ${role}`);
      await manager.query(`SET LOCAL search_path = ''`);
      await manager.query(
        `INSERT INTO public.brands ("brandID", name) VALUES ('granted', 'G'), ('gone', 'G')`,
      );
      await manager.query(`DELETE FROM public.brands WHERE "brandID" = 'gone'`);
    });
    await query(`REVOKE ALL ON brands FROM ${role}`);
    await query(`DROP ROLE ${role}`);
    const list = await service.get(`/brands?updatedSince=${since}&brandID=granted`).expect(200);
    expect(list.body.response_data.count).toBe('1');
    expect(await deletedSince(service, 'brands', since)).toContain('gone');
  });

  it('the reported time advances, so that a change is listed only a few times', async () => {
    await ahead();
    const before = await until();
    await query(`INSERT INTO brands ("brandID", name) VALUES ('once', 'O')`);
    for (let times = 0; times < 2; times += 1) await advance();
    const since = await until();
    expect(since > before).toBe(true);
    const { body } = await service.get(`/brands?updatedSince=${since}&brandID=once`).expect(200);
    expect(body.response_data.count).toBe('0');
  });

  it('a watermark that was restored without its sequence is not undercut', async () => {
    await ahead();
    await query(`SELECT setval('watermark_floor', 1)`);
    await advanceWatermark(service.dataSource, 1, '1 s');
    const since = await until();
    await query(`INSERT INTO brands ("brandID", name) VALUES ('restored', 'R')`);
    const { body } = await service
      .get(`/brands?updatedSince=${since}&brandID=restored`)
      .expect(200);
    expect(body.response_data.count).toBe('1');
  });

  it('verify says so', async () => {
    await ahead();
    expect(await findViolations(service.application)).toEqual([
      expect.stringMatching(
        /^the clock of the database is (59\d|600) s behind the last changes: it was set back$/,
      ),
    ]);
  });
});

it('The times of deletions are bounded, too', async () => {
  await service.load('brands', [{ brandID: 'gone', name: 'G' }]);
  await advance('-10 minutes');
  await service.dataSource.query(`DELETE FROM brands WHERE "brandID" = 'gone'`);
  const [{ bounded }] = await service.dataSource.query<[{ bounded: boolean }]>(
    `SELECT "deletedAt" > now() + interval '9 minutes' AS bounded FROM brands_deletions WHERE "brandID" = 'gone'`,
  );
  expect(bounded).toBe(true);
});
