import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApplication } from '#server/application.js';
import { ClientsService } from '#server/clients/clients.service.js';
import { PROJECT } from '../project.js';
import { migrateDatabase } from '../schema/declared.js';
import { primaryPool } from '#server/private-api/database.js';
import { Primary } from '#server/database/primary.js';
import { Replicas } from '#server/database/replicas.js';
import type { EnvelopedExpressAdapter } from '#server/http/server/enveloped-express.adapter.js';
import { Settings } from '#server/settings/settings.js';
import { sentStatements } from '../sent-statements.js';
import { refusal, type Service, startService } from '../service.js';
import { until } from '../until.js';
import { Gate } from './gate.js';
import { Load } from './load.js';
import { OwnServer } from './own-server.js';

const MAX_LAG = 1000;
/** Settings of the `Replicas` that a test creates. */
const SETTINGS = { maxReplicaLag: 5000, poolSize: 1, queryTimeout: 1000 };

let primary: OwnServer;
let replicas: OwnServer[];
/** In front of the first replica. */
let gate: Gate;
let service: Service;
let load: Load | undefined;

beforeAll(async () => {
  for (const level of ['error', 'warn', 'log'] as const) {
    jest.spyOn(Logger.prototype, level).mockImplementation(() => undefined);
  }
  primary = await OwnServer.create();
  await migrateDatabase(primary.url);
  replicas = [await primary.replica(), await primary.replica()];
  gate = await Gate.before(replicas[0]?.url ?? '');
  service = await startService({
    DATABASE_URL: primary.url,
    DATABASE_REPLICA_URLS: [gate.url, replicas[1]?.url].join(','),
    MAX_REPLICA_LAG_MS: String(MAX_LAG),
    PAGE_CACHE_MB: '0',
    QUERY_TIMEOUT_MS: '3000',
  });
  await service.load('brands', brands(0, 500));
});
afterAll(async () => {
  await service.stop();
  await gate.shut();
  for (const server of [...replicas, primary]) await server.remove();
  jest.restoreAllMocks();
});
afterEach(async () => {
  await load?.stop();
  await until(async () => (await well()) === 2);
});

function brands(first: number, count: number) {
  return Array.from({ length: count }, (_, at) => ({ brandID: `b${first + at}`, name: 'Brand' }));
}

/** The URL of another database of a server. */
function databaseOn(server: OwnServer | undefined, name: string): string {
  const url = new URL(server?.url ?? '');
  url.pathname = `/${name}`;
  return url.href;
}

/** The number of replicas whose lag is within `MAX_LAG`. */
async function well(): Promise<number> {
  const { text } = await service.anonymous().get('/metrics').expect(200);
  const lags = [...text.matchAll(/^catalogue_replica_lag_seconds\{.*\} (.*)$/gm)];
  expect(lags).toHaveLength(2);
  return lags.filter(([, lag]) => lag !== '+Inf' && Number(lag) * 1000 <= MAX_LAG).length;
}

/** The open connections to each server, as the metrics tell them. */
async function connectionsByServer(): Promise<Map<string, number>> {
  const { text } = await service.anonymous().get('/metrics').expect(200);
  const gauges = text.matchAll(/^catalogue_pool_connections\{server="(.*)"\} (.*)$/gm);
  return new Map([...gauges].map(([, server = '', open]) => [server, Number(open)]));
}

async function count(): Promise<number> {
  const { body } = await service.get('/brands?limit=0').expect(200);
  return Number((body as { response_data: { count: string } }).response_data.count);
}

function start(): Load {
  load = new Load(
    8,
    [`http://127.0.0.1:${service.port}`],
    ['/brands?limit=20', '/brands/b7'],
    service.headers,
  );
  return load;
}

it('Lists and objects are read from the replicas, and from the primary without them', async () => {
  await until(async () => (await well()) === 2);
  await until(async () => (await count()) === 500);
  const asked = jest.spyOn(primaryPool(service.dataSource), 'query');
  await service.get('/brands?offset=100').expect(200);
  await service.get('/brands?name=Brand&sort=-name').expect(200);
  await service.get('/brands/b1').expect(200);
  const { headers } = await service.get('/brands?limit=1').expect(200);
  await service.get('/brands?limit=1').set('If-None-Match', String(headers.etag)).expect(304);
  expect(sentStatements(asked)).toEqual([]);
  // The service may answer with metrics that it collected just before the lists.
  await until(async () => {
    const [[server] = [], ...ofReplicas] = await connectionsByServer();
    expect(server).toBe('primary');
    expect(ofReplicas).toHaveLength(2);
    return ofReplicas.some(([, open]) => open > 0);
  });
  await Promise.all(replicas.map((replica) => replica.stop()));
  await service.get('/brands?offset=101').expect(200);
  expect(sentStatements(asked)).not.toEqual([]);
  asked.mockRestore();
  await Promise.all(replicas.map((replica) => replica.start()));
});

it.each(['SIGINT', 'SIGKILL'] as const)(
  'A replica that ends by %s under load and comes back costs no request',
  async (signal) => {
    const running = start();
    await running.untilMore(50);
    await replicas[1]?.stop(signal);
    await until(async () => (await well()) === 1);
    await running.untilMore(100);
    await replicas[1]?.start();
    await until(async () => (await well()) === 2);
    await running.untilMore(100);
    const outcomes = await running.stop();
    expect(outcomes.filter(({ errcode }) => errcode !== '0')).toEqual([]);
    expect(outcomes.length).toBeGreaterThan(100);
  },
);

it('A replica that falls silent under load costs no request, nor one whose way is cut', async () => {
  const running = start();
  await running.untilMore(50);
  await replicas[1]?.signalAll('SIGSTOP');
  await until(async () => (await well()) === 1);
  await replicas[1]?.signalAll('SIGCONT');
  await until(async () => (await well()) === 2);
  for (let at = 0; at < 10; at += 1) {
    gate.cut();
    await running.untilMore(10);
  }
  await gate.shut();
  // The duration of the fault.
  await sleep(500);
  await gate.open();
  const outcomes = await running.stop();
  expect(outcomes.filter(({ errcode }) => errcode !== '0')).toEqual([]);
  // A query to a silent replica waits until the replica is excluded.
  expect(Math.max(...outcomes.map(({ began, ended }) => ended - began))).toBeLessThan(4000);
});

it('A replica that is too far behind is left out until it has caught up', async () => {
  for (const replica of replicas) await replica.query('SELECT pg_wal_replay_pause()');
  await service.load('brands', brands(500, 100));
  // Without new writes, a paused replica would still have every commit.
  const written = performance.now();
  await until(async () => (await count()) === 600, MAX_LAG + 500);
  expect(await well()).toBe(0);
  expect(performance.now() - written).toBeLessThan(MAX_LAG + 600);
  for (const replica of replicas) await replica.query('SELECT pg_wal_replay_resume()');
  await until(async () => (await well()) === 2);
  expect(await count()).toBe(600);
});

it('A wait ends by a change at the primary, and not by an older version on a replica', async () => {
  // The client is there already.
  const create = jest.spyOn(ClientsService.prototype, 'create').mockResolvedValue(undefined);
  const other = await startService({
    DATABASE_URL: primary.url,
    DATABASE_REPLICA_URLS: replicas[0]?.url,
    MAX_REPLICA_LAG_MS: '60000',
  });
  create.mockRestore();
  try {
    const waited = async (tag: unknown, seconds: number) => {
      const prefer = `wait=${seconds}`;
      const { status, headers } = await other
        .get('/brands?limit=1')
        .set({ 'If-None-Match': String(tag), Prefer: prefer });
      expect(headers['preference-applied']).toBe(prefer);
      return { status, tag: headers.etag };
    };
    const narrowed = await other.newClient('narrowed', { hidden: ['brands.createdAt'] });
    await until(() => Promise.resolve(other.application.get(Replicas).available.length === 1));
    const { headers } = await other.get('/brands?limit=1').expect(200);
    await replicas[0]?.query('SELECT pg_wal_replay_pause()');
    const waiting = waited(headers.etag, 20);
    const adapter = other.application.getHttpAdapter() as unknown as EnvelopedExpressAdapter;
    await until(() => adapter.waiting.size === 1);
    await primary.query(`UPDATE brands SET name = 'Changed' WHERE "brandID" = 'b0'`);
    const changed = await waiting;
    expect(changed.status).toBe(200);
    // The list on the replica is what it was.
    expect((await other.get('/brands?limit=1')).headers.etag).toBe(headers.etag);
    expect(await waited(changed.tag, 2)).toEqual({ status: 304, tag: changed.tag });
    // A client that never waits reads where it would read otherwise.
    const { body } = await narrowed
      .get('/brands?limit=1&fields=name')
      .set({ 'If-None-Match': '"none"', Prefer: 'wait=2' })
      .expect(200);
    expect(body).toMatchObject({ response_data: { objects: [{ name: 'Brand' }] } });
  } finally {
    await replicas[0]?.query('SELECT pg_wal_replay_resume()');
    await other.stop();
  }
});

it('Counts and pages are right on a replica, at every moment of a writer’s work', async () => {
  const writer = new AbortController();
  const writing = (async () => {
    for (let at = 0; !writer.signal.aborted; at += 1) {
      await primary.query(
        at % 2 === 0
          ? `INSERT INTO brands ("brandID", name) SELECT 'w' || i, 'W' FROM generate_series(1, 50) i`
          : `DELETE FROM brands WHERE name = 'W'`,
      );
    }
  })();
  for (let at = 0; at < 100; at += 1) {
    const { body } = await service.get('/brands?limit=1000').expect(200);
    const { count, objects } = (body as { response_data: { count: string; objects: unknown[] } })
      .response_data;
    expect(objects).toHaveLength(Number(count));
    expect([600, 650]).toContain(Number(count));
  }
  writer.abort();
  await writing;
  await primary.query(`DELETE FROM brands WHERE name = 'W'`);
});

/** Why replicas are excluded. */
const problemsOf = ({ all }: Replicas): string[] => all.flatMap(({ problem }) => problem ?? []);

it('What is no replica of this database, or of its past, is left out', async () => {
  const [replica] = replicas;
  const database = new URL(replica?.url ?? '');
  database.pathname = '/stranger';
  const stranger = new URL(primary.url);
  stranger.pathname = '/stranger';
  await primary.query('CREATE DATABASE stranger');
  await migrateDatabase(stranger.href);
  const other = await OwnServer.create();
  await migrateDatabase(other.url);
  const replicaOfOther = await other.replica();
  const urls = [primary.url, database.href, replicaOfOther.url];
  const strangers = new Replicas(new Primary(primary.url), { ...SETTINGS, replicaUrls: urls });
  await until(() => Promise.resolve(problemsOf(strangers).length === 3));
  expect(problemsOf(strangers)).toEqual([
    'it is not a streaming replica',
    'it is a replica of another server, database or history',
    'it is a replica of another server, database or history',
  ]);
  expect(strangers.available).toEqual([]);
  await strangers.onApplicationShutdown();

  // After a promotion, the two servers have different histories.
  await other.query('SELECT advance_watermark()');
  const promoted = await other.replica();
  await promoted.query('SELECT pg_promote()');
  for (const server of [promoted, other]) await server.query('SELECT advance_watermark()');
  // The old primary is ahead in its log, but of the old history.
  await other.query('CREATE TABLE junk AS SELECT generate_series(1, 100000)');
  const lost = [replicaOfOther.url];
  const parted = new Replicas(new Primary(promoted.url), { ...SETTINGS, replicaUrls: lost });
  await until(() => Promise.resolve(problemsOf(parted).length === 1));
  expect(problemsOf(parted)).toEqual(['it is a replica of another server, database or history']);
  expect(parted.available).toEqual([]);
  await parted.onApplicationShutdown();
  for (const server of [promoted, replicaOfOther, other]) await server.remove();
});

it('After another database has taken the place of the first one by its name, its replica is read again', async () => {
  const [replica] = replicas;
  const shopOn = (server: OwnServer | undefined): string => databaseOn(server, 'shop');
  await primary.query('CREATE DATABASE shop');
  await migrateDatabase(shopOn(primary));
  await primary.query('CREATE DATABASE shop_restored TEMPLATE shop');
  await until(() => replica?.query('SELECT', shopOn(replica)).then(Boolean, () => false) ?? false);
  const replaced = new Replicas(new Primary(shopOn(primary)), {
    ...SETTINGS,
    maxReplicaLag: MAX_LAG,
    replicaUrls: [shopOn(replica)],
  });
  await until(() => Promise.resolve(replaced.available.length === 1));
  for (const statement of [
    'ALTER DATABASE shop ALLOW_CONNECTIONS false',
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'shop'`,
    'ALTER DATABASE shop RENAME TO shop_old',
    'ALTER DATABASE shop_restored RENAME TO shop',
  ]) {
    await primary.query(statement);
  }
  await until(() => Promise.resolve(problemsOf(replaced).length === 1));
  await until(() => Promise.resolve(replaced.available.length === 1));
  await replaced.onApplicationShutdown();
});

it('Without the primary, replicas that are recent enough answer every request', async () => {
  await primary.query('CREATE DATABASE depot');
  await migrateDatabase(databaseOn(primary, 'depot'));
  const way = await Gate.before(databaseOn(primary, 'depot'));
  const other = await startService({
    DATABASE_URL: way.url,
    DATABASE_REPLICA_URLS: databaseOn(replicas[1], 'depot'),
    MAX_REPLICA_LAG_MS: '12000',
    PAGE_CACHE_MB: '0',
  });
  try {
    const ready = () => other.anonymous().get('/health/ready');
    await other.get('/brands').expect(200);
    await ready().expect(200);
    const known = other.application.get(Replicas);
    // At the start, the replica may not have replayed what has just been created.
    await until(() => Promise.resolve(known.available.length === 1));
    await way.shut();
    const began = performance.now();
    // Longer than a record of a client is used without being read again.
    while (performance.now() - began < 8000) {
      await other.get('/brands').expect(200);
      await ready().expect(200);
      await sleep(50);
    }
    await until(async () => (await other.get('/brands')).status === 503);
    await until(async () => (await ready()).status === 503);
    await way.open();
    await until(async () => (await other.get('/brands')).status === 200);
  } finally {
    await other.stop();
    await way.shut();
  }
});

it('What no primary has confirmed for five minutes lets no client in, whatever the lag that lists may have', async () => {
  await primary.query('CREATE DATABASE annex');
  await migrateDatabase(databaseOn(primary, 'annex'));
  const way = await Gate.before(databaseOn(primary, 'annex'));
  const other = await startService({
    DATABASE_URL: way.url,
    DATABASE_REPLICA_URLS: databaseOn(replicas[1], 'annex'),
    MAX_REPLICA_LAG_MS: '86400000',
  });
  const clock = performance.now.bind(performance);
  const now = jest.spyOn(performance, 'now');
  try {
    await until(() => Promise.resolve(other.application.get(Replicas).available.length === 1));
    await other.anonymous().get('/health/ready').expect(200);
    await way.shut();
    let ahead = 0;
    now.mockImplementation(() => clock() + ahead);
    ahead = 280_000;
    await other.get('/brands').expect(200);
    await other.anonymous().get('/health/ready').expect(200);
    // Beyond the five seconds for which its record may be used again.
    ahead = 310_000;
    expect(other.application.get(Replicas).available).toHaveLength(1);
    await other.get('/brands').expect(503, refusal(-2, 'The service is temporarily unavailable'));
    await other.anonymous().get('/health/ready').expect(503);
  } finally {
    now.mockRestore();
    await other.stop();
    await way.shut();
  }
});

it('A replica that may not be read is asked once a minute at most', async () => {
  await primary.query(`CREATE ROLE few LOGIN PASSWORD 'few'`);
  // As the checks of replicas need it.
  await primary.query('GRANT SELECT ON watermark TO few');
  const [replica] = replicas;
  const url = new URL(replica?.url ?? '');
  [url.username, url.password] = ['few', 'few'];
  const settings = new Settings({
    DATABASE_URL: primary.url,
    DATABASE_REPLICA_URLS: url.href,
    LOG_LEVEL: 'error',
  });
  const application = await createApplication(PROJECT, primary.url, settings);
  await until(() => Promise.resolve(application.get(Replicas).available.length === 1));
  await application.listen(0, '127.0.0.1');
  const warned = jest.spyOn(Logger.prototype, 'warn');
  warned.mockClear();
  const { headers } = service;
  for (let at = 0; at < 3; at += 1) {
    const address = await application.getUrl();
    expect((await fetch(`${address}/brands?offset=${at}`, { headers })).status).toBe(200);
  }
  expect(warned).toHaveBeenCalledTimes(1);
  expect(String(warned.mock.calls[0]?.[0])).toMatch(/is left out for a minute: permission denied/);
  await application.close();
});
