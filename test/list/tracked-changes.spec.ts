import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { purgeDeletions } from '../../src/list/deletions/purge.js';
import { resourcesOf } from '../../src/resource/resource.js';
import { differences } from '../../src/schema/differences.js';
import { findViolations } from '../../src/verify/verify.js';
import { Random } from '../random.js';
import { advanceWatermark } from '../watermark.js';
import { Mirror } from './mirror.js';
import { startTracked, TRACK, TRACKED, type TrackedService } from './tracked.fixture.js';
import { inAnyOrder, ownerWrites } from './tracked-writes.js';

/** The duration of the run under writers, in seconds; set MIRROR_SECONDS for a longer one. */
const SECONDS = Number(process.env.MIRROR_SECONDS ?? 2);
const WRITERS = 5;

type Row = Readonly<Record<string, unknown>>;

let service: TrackedService;

beforeAll(async () => {
  service = await startTracked();
});
afterAll(() => service.stop());

const own = (sql: string) => service.dataSource.query<Row[]>(sql);
const asOwner = async (sql: string) => (await service.owner.query<Row>(sql)).rows;
const texts = async () => (await differences(service.dataSource)).map(({ text }) => text);
const find = async (path: string) => {
  const { body } = await service.get(path).expect(200);
  return body.response_data as { count: string; objects: Row[] };
};

/** A time of the database after all changes so far. */
async function now(): Promise<string> {
  await sleep(2);
  const [row] = await own('SELECT clock_timestamp() AS now');
  await sleep(2);
  return (row?.now as Date).toISOString();
}

async function changedSince(resource: string, since: string): Promise<string[]> {
  const { count, objects } = await find(`/${resource}?limit=1000&updatedSince=${since}`);
  expect(objects).toHaveLength(Number(count));
  return objects.map(({ ware_id: id }) => String(id));
}

async function deletedSince(resource: string, since: string): Promise<string[]> {
  const { count, objects } = await find(`/deletions/${resource}?limit=1000&deletedSince=${since}`);
  expect(objects).toHaveLength(Number(count));
  return objects.map(({ ware_id: id }) => String(id));
}

/** Each row with a text that is another one after every write to it. */
async function rowsOf(table: string): Promise<Map<string, string>> {
  const rows = await asOwner(
    `SELECT ware_id::text, concat_ws(' ', tableoid, ctid, xmin) AS place FROM "Shop".${table}`,
  );
  return new Map(rows.map(({ ware_id: id, place }) => [String(id), String(place)]));
}

/** Runs a write, and compares what the lists tell of it with the table before and after. */
async function expectTold(resource: string, table: string, write: () => Promise<unknown>) {
  const before = await rowsOf(table);
  const since = await now();
  await write();
  const after = await rowsOf(table);
  const changed = [...after].filter(([id, place]) => before.get(id) !== place).map(([id]) => id);
  expect((await changedSince(resource, since)).sort()).toEqual(changed.sort());
  const unchanged = await find(`/${resource}?limit=1000&updatedUntil=${since}`);
  expect(unchanged.count).toBe(String(after.size - changed.length));
  const deleted = await deletedSince(resource, since);
  expect(deleted).toEqual(
    expect.arrayContaining([...before.keys()].filter((id) => !after.has(id))),
  );
  expect(deleted.filter((id) => after.has(id))).toEqual([]);
}

describe('Changes and deletions of tracked tables', () => {
  it.each(Object.entries(TRACKED))(
    'tell what its owner writes into %s',
    async (resource, table) => {
      const random = new Random(`changes of ${table}`);
      for (const statement of inAnyOrder(random, table)) {
        await expectTold(resource, table, () => asOwner(statement)).catch((error: unknown) => {
          throw new Error(`after ${statement}`, { cause: error });
        });
      }
      expect(await findViolations(service.application)).toEqual([]);
    },
  );

  it('tell of COPY', async () => {
    await expectTold('test_parted_wares', 'parted_wares', () =>
      pipeline(
        Readable.from(['900,new\n', '1900,new\n']),
        service.owner.query(
          copyFrom(`COPY "Shop".parted_wares (ware_id, state) FROM STDIN (FORMAT csv)`),
        ),
      ),
    );
  });

  it('tell of a row that cascades write twice', async () => {
    await asOwner(
      `CREATE TABLE "Shop".shelves (shelf integer PRIMARY KEY); INSERT INTO "Shop".shelves VALUES (901), (902);
       INSERT INTO "Shop".wares (ware_id, state, shelf) VALUES ('twice', 'new', 901);
       ALTER TABLE "Shop".wares ADD other_shelf integer REFERENCES "Shop".shelves ON UPDATE CASCADE;
       UPDATE "Shop".wares SET other_shelf = 902 WHERE ware_id = 'twice';
       ALTER TABLE "Shop".wares ADD FOREIGN KEY (shelf) REFERENCES "Shop".shelves ON UPDATE CASCADE NOT VALID`,
    );
    await expectTold('test_wares', 'wares', () =>
      asOwner(`UPDATE "Shop".shelves SET shelf = shelf + 10`),
    );
    expect(await findViolations(service.application)).toEqual([]);
    await asOwner(`ALTER TABLE "Shop".wares DROP other_shelf; DROP TABLE "Shop".shelves CASCADE`);
  });

  it('refuse a TRUNCATE that would empty more than its snapshot shows', async () => {
    for (const table of ['wares', 'parted_wares', 'low_wares']) {
      await asOwner('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await expect(asOwner(`TRUNCATE "Shop".${table}`)).rejects.toMatchObject({ code: '40001' });
      await asOwner('ROLLBACK');
    }
  });

  it('refuse an identifier that was written and deleted since the snapshot, and no other', async () => {
    const other = new Client(service.ownerUrl);
    await other.connect();
    await asOwner(`INSERT INTO "Shop".wares (ware_id, state) VALUES ('there', 'new')`);
    await asOwner('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM "Shop".wares');
    await other.query(`DELETE FROM "Shop".wares WHERE ware_id = 'there'`);
    await other.query(`INSERT INTO "Shop".wares (ware_id, state) VALUES ('brief', 'new')`);
    await other.query(`DELETE FROM "Shop".wares WHERE ware_id = 'brief'`);
    await other.end();
    await asOwner(`INSERT INTO "Shop".wares (ware_id, state) VALUES ('there', 'new')`);
    await expect(
      asOwner(`INSERT INTO "Shop".wares (ware_id, state) VALUES ('brief', 'new')`),
    ).rejects.toMatchObject({ code: '40001' });
    await asOwner('ROLLBACK');
  });

  it.each(['commits', 'begins to write'])(
    'miss no change of a transaction that %s late',
    async (late) => {
      await advanceWatermark(service.dataSource, 2);
      const client = new Client(service.ownerUrl);
      await client.connect();
      const insert = `INSERT INTO "Shop".wares (ware_id, state) VALUES ('${late}', 'new')`;
      await client.query(late === 'commits' ? `BEGIN; ${insert}` : 'BEGIN; SELECT');
      await sleep(30);
      for (let beats = 0; beats < 3; beats += 1) await own(`SELECT advance_watermark('1 ms')`);
      const { headers } = await service.get('/test_wares').expect(200);
      if (late !== 'commits') await client.query(insert);
      await client.query('COMMIT');
      await client.end();
      const since = String(headers['x-updated-until']);
      expect(await changedSince('test_wares', since)).toContain(late);
    },
  );

  it('count rows that were there before as changed when tracking began', async () => {
    await own(`SELECT untrack_table('test_wares')`);
    const since = await now();
    await own(TRACK.test_wares);
    expect((await changedSince('test_wares', since)).sort()).toEqual(
      [...(await rowsOf('wares')).keys()].sort(),
    );
    expect(await changedSince('test_wares', await now())).toEqual([]);
  });

  it('tell what went while triggers were disabled, and what a partition took away', async () => {
    await asOwner(
      `INSERT INTO "Shop".wares (ware_id, state) VALUES ('missed', 'new') ON CONFLICT DO NOTHING;
       INSERT INTO "Shop".parted_wares (ware_id, state) VALUES (7, 'new'), (1007, 'new') ON CONFLICT DO NOTHING`,
    );
    // Its deletion is later than its insertion, and it is there.
    await asOwner(
      `WITH gone AS (DELETE FROM "Shop".parted_wares WHERE ware_id = 1007 RETURNING *)
       INSERT INTO "Shop".parted_wares SELECT * FROM gone`,
    );
    const since = await now();
    const high = [...(await rowsOf('high_wares')).keys()];
    await asOwner(
      `ALTER TABLE "Shop".wares DISABLE TRIGGER USER; DELETE FROM "Shop".wares WHERE ware_id = 'missed';
       ALTER TABLE "Shop".wares ENABLE TRIGGER USER; ALTER TABLE "Shop".parted_wares DETACH PARTITION "Shop".high_wares`,
    );
    for (const statement of Object.values(TRACK)) await own(statement);
    expect(await deletedSince('test_wares', since)).toContain('missed');
    expect(await deletedSince('test_parted_wares', since)).toEqual(expect.arrayContaining(high));
    await asOwner(
      `ALTER TABLE "Shop".parted_wares ATTACH PARTITION "Shop".high_wares FOR VALUES FROM (1000) TO (MAXVALUE)`,
    );
    await own(TRACK.test_parted_wares);
    const deleted = await deletedSince('test_parted_wares', since);
    expect(deleted.filter((id) => high.includes(id))).toEqual([]);
    expect(await changedSince('test_parted_wares', since)).toEqual(expect.arrayContaining(high));
  });

  it('forget deletions after their retention, and nothing of what exists', async () => {
    await asOwner(
      `INSERT INTO "Shop".wares (ware_id, state) VALUES ('old', 'new'), ('back', 'new'), ('young', 'new'), ('stays', 'new');
       DELETE FROM "Shop".wares WHERE ware_id IN ('old', 'back', 'young');
       INSERT INTO "Shop".wares (ware_id, state) VALUES ('back', 'new')`,
    );
    await own(
      `UPDATE test_wares_deletions SET "deletedAt" = now() - interval '32 days' WHERE ware_id IN ('old', 'back')`,
    );
    await own(`UPDATE test_wares_tally_changes SET "changedAt" = now() - interval '33 days'`);
    const metadata = resourcesOf(service.dataSource).get('test_wares');
    if (!metadata) throw new Error('There is no test_wares');
    await purgeDeletions(service.dataSource, metadata);
    const kept = async (table: string) =>
      (
        await own(
          `SELECT ware_id FROM ${table} WHERE ware_id IN ('old', 'back', 'young', 'stays') ORDER BY 1`,
        )
      ).map(({ ware_id: id }) => id);
    expect(await kept('test_wares_deletions')).toEqual(['young']);
    expect(await kept('test_wares_tally_changes')).toEqual(['back', 'stays', 'young']);
    expect(await findViolations(service.application)).toEqual([]);
  });

  it('are withheld while what keeps them is missing, or a row has no time', async () => {
    await asOwner('DROP TRIGGER test_wares_changes_delete ON "Shop".wares');
    expect(await texts()).toEqual(['"Shop".wares has no trigger test_wares_changes_delete']);
    for (const table of ['test_wares_tally_changes', 'test_wares_deletions']) {
      await own(`DROP TABLE ${table}`);
      expect(await texts()).toEqual([
        'there is no table "test_wares_tally_changes" or "test_wares_deletions", which triggers on "Shop"."wares" write',
      ]);
      await own(TRACK.test_wares);
      expect(await texts()).toEqual([]);
    }
    await own(`DELETE FROM test_wares_tally_changes WHERE ware_id = 'stays'`);
    expect(await findViolations(service.application)).toEqual([
      '1 test_wares have no time of their last change: run SELECT track_table(…) again',
    ]);
    await own(TRACK.test_wares);
  });
});

it.each(Object.entries(TRACKED))(
  'A copy of %s is kept in step by updatedSince and deletions, beside writers of its owner',
  async (resource, table) => {
    const mirror = new Mirror(service, resource, 'ware_id');
    await advanceWatermark(service.dataSource, 2);
    await mirror.follow({
      seconds: SECONDS,
      writers: WRITERS,
      write: (writer, isOver) => write(writer, table, isOver),
    });
    const there = await asOwner(`SELECT to_jsonb(ware) - 'note' AS ware FROM "Shop".${table} ware`);
    const shown = (rows: Iterable<unknown>) =>
      [...rows]
        .map((row) => {
          const { ware_id: id, price, ...rest } = row as Row;
          return JSON.stringify([
            String(id),
            price === null ? null : Number(price),
            ...columns.map((name) => rest[name]),
          ]);
        })
        .sort();
    const columns = ['state', 'active', 'shelf'];
    expect(shown(mirror.objects.values())).toEqual(shown(there.map(({ ware }) => ware)));
  },
  SECONDS * 1000 + 60_000,
);

/** Writes until `isOver`. Some transactions commit late, and some roll back. */
async function write(writer: number, table: string, isOver: () => boolean): Promise<void> {
  const random = new Random(`tracked mirror ${writer} ${table}`);
  const client = new Client(service.ownerUrl);
  await client.connect();
  while (!isOver()) {
    try {
      await client.query(random.chance(0.3) ? 'BEGIN ISOLATION LEVEL REPEATABLE READ' : 'BEGIN');
      for (let step = 0; step < 2; step += 1) {
        // Before the first statement it has its start and no id yet, so that it holds the watermark up by nothing.
        if (random.chance(0.2)) await sleep(random.below(400));
        await client.query(
          random.pick(ownerWrites(random, table).filter((sql) => !sql.startsWith('BEGIN'))),
        );
      }
      if (random.chance(0.1)) await client.query(`TRUNCATE "Shop".${table}`);
      await client.query(random.chance(0.15) ? 'ROLLBACK' : 'COMMIT');
    } catch (error) {
      // Conflicts with other writers are expected.
      expect((error as { code: string }).code).toMatch(/^(40|23505)/);
      await client.query('ROLLBACK');
    }
    await sleep(random.below(5));
  }
  await client.end();
}
