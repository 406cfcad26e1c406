import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { catalogue } from '../cli/catalogue.js';
import { createDatabase, type TestDatabase } from '#server/testing/database.js';
import { type Credentials, loadBrands } from '../database/load-brands.js';
import { until } from '../until.js';
import { Balancer } from './balancer.js';
import { Instance } from './instance.js';
import { Load } from './load.js';

/** How often an instance is restarted. */
const RESTARTS = Number(process.env.ROLLING_RESTARTS ?? 2);

let database: TestDatabase;
let headers: Credentials;
const started: Instance[] = [];
let load: Load | undefined;
let balancer: Balancer | undefined;

beforeAll(async () => {
  database = await createDatabase();
  headers = (await loadBrands(database.url, ['tester'], 500)).tester;
});
// What a failed test leaves running would keep Jest from its end.
afterEach(async () => {
  await load?.stop();
  await balancer?.close();
  balancer = undefined;
  await Promise.all(started.map((instance) => instance.kill()));
});
afterAll(() => database.drop());

/** Starts an instance and adds it to `started`. */
async function start(environment: NodeJS.ProcessEnv = {}): Promise<Instance> {
  const instance = await Instance.start(database.url, environment);
  started.push(instance);
  return instance;
}

it('Instances behind a proxy are restarted one after the other without a failed request', async () => {
  const instances = await Promise.all([start(), start(), start()]);
  const proxy = await Balancer.before(instances);
  balancer = proxy;
  await until(() => instances.every(({ address }) => proxy.isReady(address)));
  load = new Load(8, [proxy.address], ['/brands?limit=20', '/brands/b7'], headers);
  for (let at = 0; at < RESTARTS; at += 1) {
    const [oldest] = instances.splice(0, 1);
    if (!oldest) break;
    const { status, milliseconds } = await oldest.stop();
    expect(status).toBe(0);
    expect(milliseconds).toBeLessThan(5000);
    const restarted = await start(oldest.ports);
    instances.push(restarted);
    await until(() => proxy.isReady(restarted.address));
  }
  const outcomes = await load.stop();
  await Promise.all(instances.map((instance) => instance.stop()));
  console.info(`${RESTARTS} restarts, ${outcomes.length} requests`);
  expect(outcomes.length).toBeGreaterThan(100);
  expect(outcomes.filter(({ errcode }) => errcode !== '0')).toEqual([]);
});

it('An instance that is told to stop answers what comes on open connections, and tells them to close', async () => {
  const instance = await start({ DRAIN_MS: '1000' });
  load = new Load(8, [instance.address], ['/brands?limit=20'], headers);
  await load.untilMore(50);
  const told = performance.now();
  const stopped = instance.stop();
  const ask = () => fetch(`${instance.adminAddress}/health/ready`);
  await until(async () => (await ask()).status === 503);
  const ready = await ask();
  expect(await ready.json()).toEqual({ status: 'unavailable', reason: 'draining' });
  const { status, milliseconds } = await stopped;
  const outcomes = await load.stop();
  expect(status).toBe(0);
  expect(milliseconds).toBeGreaterThan(1000);
  expect(milliseconds).toBeLessThan(5000);
  const served = outcomes.filter(({ failure }) => failure === undefined);
  expect(new Set(served.map(({ errcode }) => errcode))).toEqual(new Set(['0']));
  expect(served.filter(({ began }) => began > told + 500).length).toBeGreaterThan(10);
  // Connections fail only after it has drained: those that it had not accepted when it ended are reset.
  const failed = outcomes.filter(({ failure }) => failure !== undefined);
  expect(failed.filter(({ began }) => began < told + 1000)).toEqual([]);
  const kinds = failed.map(({ failure }) => failure).filter((kind) => kind !== 'ECONNRESET');
  expect(new Set(kinds)).toEqual(new Set(['ECONNREFUSED']));
});

it('What they wrote has no token in it', () => {
  const written = started.map(({ output }) => output).join('');
  expect(written).toContain('"route":"/brands"');
  expect(written).not.toContain(headers.Authorization?.split(' ')[1]);
});

it('A schema is migrated once by three that start on it together', async () => {
  const empty = await createDatabase({ migrated: false });
  const environment = { DATABASE_URL: empty.url };
  const results = await Promise.all([1, 2, 3].map(() => catalogue(['migrate'], environment)));
  expect(results.map(({ status }) => status)).toEqual([0, 0, 0]);
  const took = results.map(({ stdout }) => /(\d+) migrations taken/.exec(stdout)?.[1]);
  expect(took.filter((count) => count === '0')).toHaveLength(2);
  await empty.drop();
});
