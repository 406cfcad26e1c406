import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import type { Client } from 'pg';
import { connectedTo } from '#server/testing/database.js';
import { TallyMaintenance } from '#server/tally/maintain.js';
import { stateOf } from '#server/list/statement/page-statement.js';
import { resourcesOf } from '#server/resource/resource.js';
import { Random } from '#server/testing/random.js';
import { type Service, startService } from '../service.js';

let service: Service;
let clients: Client[];

beforeEach(async () => {
  service = await startService();
  clients = [];
  await query(`INSERT INTO brands ("brandID", name) SELECT i, 'B' FROM generate_series(1, 300) i`);
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await service.stop();
});

const query = <Row>(text: string) => service.dataSource.query<Row[]>(text);

async function connect(): Promise<Client> {
  const client = await connectedTo(service.database.url);
  clients.push(client);
  return client;
}

/** Folds what is due, as `Maintenance` does every second. */
async function maintain(): Promise<void> {
  const metadata = resourcesOf(service.dataSource).get('brands');
  if (!metadata) throw new Error('There are no brands');
  await new TallyMaintenance(service.dataSource, metadata).run();
}

/** The version as lists read it, and the sum of all stamps. Both are of one snapshot. */
async function versions(client?: Client): Promise<{ read: string; sum: string }> {
  const text = `SELECT version AS read, (
      SELECT sum(stamp)::text FROM resource_versions WHERE resource = 'brands'
    ) AS sum FROM (SELECT ${stateOf(['brands'])}) state`;
  const [row] = client
    ? (await client.query<{ read: string; sum: string }>(text)).rows
    : await query<{ read: string; sum: string }>(text);
  if (!row) throw new Error('The state is one row');
  return row;
}

/**
 * The pages of PostgreSQL that a lookup of the state reads, by a plan made when `reader` first asked. Where autovacuum
 * has analysed a table since, the first of these lookups plan again, which reads the catalogue.
 */
async function pagesRead(reader: Client): Promise<number> {
  const reads: number[] = [];
  while (reads.length < 10) {
    const { rows } = await reader.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE lookup',
    );
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    reads.push(Number(plan?.['Shared Hit Blocks']) + Number(plan?.['Shared Read Blocks']));
  }
  return Math.min(...reads);
}

/**
 * What happens in so many seconds: 300 writes in each, maintenance, and the watermarks of some minutes. In the end
 * come the statistics that autovacuum gathers.
 */
async function passSeconds(count: number): Promise<void> {
  for (let second = 0; second < count; second += 1) {
    await query(
      `DO $$ BEGIN
         FOR i IN 1..300 LOOP UPDATE brands SET name = '${second}' WHERE "brandID" = i::text; END LOOP;
       END $$`,
    );
    await query(
      'DO $$ BEGIN FOR i IN 1..200 LOOP PERFORM advance_watermark(); COMMIT; END LOOP; END $$',
    );
    await maintain();
  }
  await query('ANALYZE resource_versions, watermark');
}

describe('What a lookup of the state reads', () => {
  const holders = {
    'an old snapshot': ['BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT count(*) FROM brands'],
    'a writer of the same resource': [
      'BEGIN',
      `INSERT INTO brands ("brandID", name) VALUES ('late', 'L')`,
    ],
    'a writer of another resource': [
      'BEGIN',
      `INSERT INTO categories ("categoryID", name) VALUES ('late', 'L')`,
    ],
  };

  it.each(Object.entries(holders))('does not grow beside %s', async (_, statements) => {
    const [holder, reader] = [await connect(), await connect()];
    await reader.query(`PREPARE lookup AS SELECT ${stateOf(['brands'])}`);
    for (let runs = 0; runs < 10; runs += 1) await reader.query('EXECUTE lookup');
    for (const statement of statements) await holder.query(statement);
    await passSeconds(4);
    const atFirst = await pagesRead(reader);
    await passSeconds(12);
    // The height of an index may grow. Scans of what was written since read 30 pages more, or 18.
    expect(await pagesRead(reader)).toBeLessThanOrEqual(atFirst + 8);
    const before = await versions();
    expect(before.read).toBe(before.sum);
    // What the writer has written long ago is in the version as soon as it commits.
    await holder.query('COMMIT');
    const after = await versions();
    expect(after.read).toBe(after.sum);
    const isWriterOfBrands = statements.some((statement) => statement.includes('INTO brands'));
    expect(after.read !== before.read).toBe(isWriterOfBrands);
  });
});

describe('The version', () => {
  it('differs for any two states, beside writers, rollbacks, and folds of this and an older release', async () => {
    const digests = new Map<string, string>();
    let reads = 0;
    const work = { goesOn: true };
    const writers = Array.from({ length: 4 }, async (_, number) => {
      const random = new Random(`writer ${number} of versions`);
      const client = await connect();
      for (let done = 0; done < 80; done += 1) {
        await client.query('BEGIN');
        const statements = 1 + random.below(3);
        for (let at = 0; at < statements; at += 1) {
          if (random.chance(0.3)) await client.query('SAVEPOINT s');
          await client.query(
            `INSERT INTO brands ("brandID", name) VALUES ('${number}-${random.below(5)}', '${done}')
             ON CONFLICT ("brandID") DO UPDATE SET name = excluded.name`,
          );
          if (random.chance(0.3)) await client.query(`SAVEPOINT s; ROLLBACK TO s`);
        }
        // Some stay open across several folds.
        if (random.chance(0.1)) await client.query('SELECT pg_sleep(0.1)');
        await client.query(random.chance(0.7) ? 'COMMIT' : 'ROLLBACK');
      }
    });
    const folds = async (): Promise<void> => {
      while (work.goesOn) await maintain();
    };
    const read = async (): Promise<void> => {
      const client = await connect();
      while (work.goesOn) {
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
        const { read: version, sum } = await versions(client);
        const { rows } = await client.query('SELECT * FROM brands ORDER BY "brandID"');
        await client.query('COMMIT');
        expect(version).toBe(sum);
        const digest = createHash('sha256').update(JSON.stringify(rows)).digest('hex');
        expect(digests.get(version) ?? digest).toBe(digest);
        digests.set(version, digest);
        reads += 1;
      }
    };
    const others = [folds(), read(), read()];
    await Promise.all(writers).finally(() => (work.goesOn = false));
    await Promise.all(others);
    expect(new Set(digests.values()).size).toBe(digests.size);
    expect(digests.size).toBeGreaterThan(20);
    expect(reads).toBeGreaterThan(digests.size);
  });

  it.each(['9000000000', '-700'])(
    'is right where the ids of a dump are those of another cluster: %s',
    async (shift) => {
      await query(`UPDATE brands SET name = 'C'`);
      await maintain();
      await query(`UPDATE brands SET name = 'D'`);
      const { read } = await versions();
      // As a restore does: rows with the values of the dump, written by a transaction of this cluster.
      await query(
        `WITH dumped AS (DELETE FROM resource_versions RETURNING *)
         INSERT INTO resource_versions
         SELECT resource, stamp, greatest(0, writer::text::bigint + ${shift})::text::xid8, CASE
           WHEN folded_in IS NOT NULL THEN (
             SELECT concat(id, ':', id, ':')::pg_snapshot
             FROM greatest(1, pg_snapshot_xmax(folded_in)::text::bigint + ${shift}) id
           )
         END FROM dumped`,
      );
      const seen = new Set<string>();
      for (const step of [
        () => Promise.resolve(),
        () => query(`UPDATE brands SET name = 'E'`),
        maintain,
        () => query(`UPDATE brands SET name = 'F'`),
      ]) {
        await step();
        const { read: version, sum } = await versions();
        expect(version).toBe(sum);
        seen.add(version);
      }
      expect([...seen][0]).toBe(read);
      expect(seen.size).toBe(3);
    },
  );
});
