import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';
import { migrateDatabase } from '../schema/declared.js';
import { OwnServer } from '../faults/own-server.js';
import { freePort } from '../free-port.js';
import { refusal, type Service, startService } from '../service.js';
import { plainLines } from '../plain-lines.js';
import { until } from '../until.js';
import { BuiltCopy, type Running, type TestMigration } from './built-copy.js';
import { IN_THIS_DATABASE } from './locks.js';

/** Milliseconds after which a request fails that waits for a lock as long as the migration does. */
const BLOCKED_AFTER = 20_000;

const brands = { name: 'AddBrandNote', up: 'ALTER TABLE brands ADD note text' };
const products = { name: 'AddProductNote', up: 'ALTER TABLE products\n  ADD note text' };
/** The line about `products`. The session of the service holds the lock. */
const LINE =
  /^AddProductNote\d{13} waits for AccessExclusiveLock on products, held by pid \d+ \(catalogue, [a-z ]+, in a transaction for \d+ s\): ALTER TABLE products ADD note text$/;

let service: Service;
let copy: BuiltCopy;
/** The migrations of the copy besides those of the project. */
let written = '';

beforeAll(async () => {
  copy = await BuiltCopy.make([]);
});
afterAll(() => copy.remove());

beforeEach(async () => {
  service = await startService({ POOL_SIZE: '4', PAGE_CACHE_MB: '0' });
  // More data than the buffers of a connection hold.
  await query(
    `INSERT INTO products ("productID", type, "imageURL")
     SELECT 'p' || i, 'PHYSICAL', repeat('x', 2000) FROM generate_series(1, 6000) i`,
  );
});
afterEach(async () => {
  copy.kill();
  await service.stop();
});

const query = <Row>(text: string) => service.dataSource.query<Row[]>(text);

/** Starts a command with these migrations pending. */
async function run(
  command: string,
  migrations: readonly TestMigration[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Running> {
  // Not while another command reads them.
  if (written !== JSON.stringify(migrations)) await copy.write(migrations);
  written = JSON.stringify(migrations);
  return copy.run([command], { DATABASE_URL: service.database.url, ...environment });
}

/** Requests a whole list and does not read its response. */
async function openStream(): Promise<IncomingMessage> {
  const sent = httpRequest({
    port: service.port,
    path: '/products',
    agent: false,
    headers: {
      Accept: 'application/x-ndjson',
      'X-Client-ID': service.clientID,
      Authorization: `Bearer ${service.token}`,
    },
  }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  return response;
}

/** Requests a list repeatedly while a migration waits. */
async function listsAreAnswered(path: string): Promise<void> {
  for (let count = 0; count < 40; count += 1) {
    await service.get(path).timeout(BLOCKED_AFTER).expect(200);
    await sleep(20);
  }
}

async function columnsNamed(column: string): Promise<string[]> {
  const rows = await query<{ table: string }>(
    `SELECT table_name AS table FROM information_schema.columns WHERE column_name = '${column}'`,
  );
  return rows.map(({ table }) => table);
}

describe('A migration beside the reader of a stream', () => {
  it('lets lists be answered, says once for whom it waits, and ends when the stream does', async () => {
    const stream = await openStream();
    const migrating = await run('migrate', [brands, products]);
    await until(() => migrating.stderr() !== '');
    await listsAreAnswered('/products?limit=5');
    // Long enough for several attempts, of which only the first prints a line.
    await sleep(3000);
    expect(migrating.stderr().trimEnd().split('\n')).toEqual([expect.stringMatching(LINE)]);
    // A migration that was applied stays applied.
    expect(await columnsNamed('note')).toEqual(['brands']);
    stream.destroy();
    expect(await migrating.ended).toBe(0);
    expect(migrating.stdout()).toMatch(
      /^AddBrandNote\d+\nAddProductNote\d+\nThe schema is up to date: 2 migrations taken\n$/,
    );
    expect((await columnsNamed('note')).sort()).toEqual(['brands', 'products']);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'is ended by %s and has changed nothing',
    async (signal) => {
      const stream = await openStream();
      const migrating = await run('migrate', [products]);
      await until(() => migrating.stderr() !== '');
      migrating.child.kill(signal);
      expect(await migrating.ended).toBe(1);
      expect(migrating.stderr()).toMatch(
        /\ncatalogue: Interrupted before all migrations were taken\n$/,
      );
      expect(await columnsNamed('note')).toEqual([]);
      const waiting = `SELECT FROM pg_locks WHERE NOT granted AND ${IN_THIS_DATABASE}`;
      expect(await query(waiting)).toEqual([]);
      stream.destroy();
      const again = await run('migrate', [products]);
      expect(await again.ended).toBe(0);
      expect(await columnsNamed('note')).toEqual(['products']);
    },
  );

  it('is ended in the middle of a statement', async () => {
    const migrating = await run('migrate', [{ name: 'Slow', up: 'SELECT pg_sleep(600)' }]);
    const sleeping = `SELECT FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)' AND state = 'active'`;
    await until(async () => (await query(sleeping)).length > 0);
    migrating.child.kill('SIGTERM');
    expect(await migrating.ended).toBe(1);
    expect(await query(sleeping)).toEqual([]);
  });

  it('lets another one wait for it, however short the database’s own lock_timeout', async () => {
    const [{ name }] = await service.dataSource.query<[{ name: string }]>(
      'SELECT current_database() AS name',
    );
    await query(`ALTER DATABASE ${name} SET lock_timeout = '50ms'`);
    const stream = await openStream();
    const both = [await run('migrate', [products]), await run('migrate', [products])];
    await until(() => both.every(({ stderr }) => stderr() !== ''));
    const said = both.map(({ stderr }) => stderr()).sort();
    expect(said[0]?.trimEnd()).toMatch(LINE);
    expect(said[1]).toMatch(/^Waiting for another process to migrate: pid \d+\n$/);
    stream.destroy();
    expect(await Promise.all(both.map(({ ended }) => ended))).toEqual([0, 0]);
    const taken = both.map(({ stdout }) => /(\d+) migrations taken/.exec(stdout())?.[1]);
    expect(taken.sort()).toEqual(['0', '1']);
  });

  it('keeps the service from starting, which says so', async () => {
    const stream = await openStream();
    const [port, adminPort] = [await freePort(), await freePort()];
    const environment = {
      HOST: '127.0.0.1',
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
    };
    const ready = () => fetch(`http://127.0.0.1:${adminPort}/health/ready`);
    const starting = await run('start', [products], environment);
    await until(() => starting.stdout().includes('\n'));
    expect(plainLines(starting.stdout()).trimEnd()).toMatch(LINE);
    await until(() => ready().then(Boolean, () => false));
    const health = await ready();
    expect(health.status).toBe(503);
    expect(await health.json()).toEqual({ status: 'unavailable', reason: 'migrations' });
    const list = await fetch(`http://127.0.0.1:${port}/brands`);
    expect(await list.json()).toEqual(refusal(-2, 'The service is temporarily unavailable'));
    stream.destroy();
    await until(() => starting.stdout().includes('listens on'));
    expect((await ready()).status).toBe(200);
    starting.child.kill('SIGTERM');
    expect(await starting.ended).toBe(0);
  });

  it('waits as it is where it runs without a transaction', async () => {
    const stream = await openStream();
    const migrating = await run('migrate', [
      {
        name: 'IndexNames',
        up: 'CREATE INDEX CONCURRENTLY names ON products (name)',
        isBare: true,
      },
    ]);
    await until(() => migrating.stderr() !== '');
    expect(migrating.stderr()).toMatch(
      /^IndexNames\d+ waits for the end of a transaction, held by pid \d+ \(.*\): CREATE INDEX/,
    );
    await listsAreAnswered('/products?limit=5');
    stream.destroy();
    expect(await migrating.ended).toBe(0);
    expect(
      await query(`SELECT indisvalid FROM pg_index WHERE indexrelid = 'names'::regclass`),
    ).toEqual([{ indisvalid: true }]);
  });
});

describe('A migration beside a writer', () => {
  let writer: QueryRunner;

  beforeEach(async () => {
    writer = service.dataSource.createQueryRunner();
    await writer.startTransaction();
    await writer.query(`INSERT INTO brands ("brandID", name) VALUES ('late', 'L')`);
  });

  it('lets others write, and installs a tally that counts them all', async () => {
    const migrating = await run('migrate', [
      { name: 'CountBrands', up: `SELECT install_tally('brands', 'brandID', '{name}')` },
    ]);
    await until(() => migrating.stderr() !== '');
    expect(migrating.stderr()).toMatch(/^CountBrands\d+ waits for \w+Lock on brands, held by pid/);
    for (let at = 0; at < 60; at += 1) {
      await query(
        `SET LOCAL lock_timeout = ${BLOCKED_AFTER}; INSERT INTO brands ("brandID", name) VALUES ('b${at}', 'B')`,
      );
      await sleep(20);
    }
    await writer.commitTransaction();
    await writer.release();
    expect(await migrating.ended).toBe(0);
    const [row] = await query<{ count: string }>(
      `SELECT sum(count) AS count FROM brands_tally WHERE facet = ''`,
    );
    expect(row).toEqual({ count: '61' });
  });
});

describe('A migration beside an autovacuum', () => {
  let server: OwnServer;

  beforeAll(async () => {
    server = await OwnServer.create({ autovacuum_naptime: '1' });
  });
  afterAll(() => server.remove());

  it('has it cancelled, as one that waits without a limit would', async () => {
    // Those of the project first.
    await migrateDatabase(server.url);
    await server.query(
      `ALTER TABLE products SET (autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1,
         autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0)`,
    );
    await server.query(
      `INSERT INTO products ("productID", type, description)
       SELECT 'p' || i, 'PHYSICAL', repeat('x', 1000) FROM generate_series(1, 5000) i`,
    );
    await server.query('UPDATE products SET stock = 1');
    await until(async () => {
      const vacuums = await server.query(
        `SELECT FROM pg_stat_progress_vacuum WHERE relid = 'products'::regclass`,
      );
      return vacuums.length > 0;
    });
    const began = performance.now();
    const migrating = await run('migrate', [products], { DATABASE_URL: server.url });
    expect(await migrating.ended).toBe(0);
    expect(migrating.stderr()).toMatch(/, held by pid \d+ \(autovacuum worker, active, /);
    // The vacuum itself would take minutes.
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});
