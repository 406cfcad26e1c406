import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { createDatabase, type TestDatabase } from '#server/testing/database.js';
import { type Credentials, loadBrands } from '../database/load-brands.js';
import type { Instance } from '../faults/instance.js';
import { Load, type Outcome } from '../faults/load.js';
import { withTool } from '../tools.js';
import { until } from '../until.js';
import { Fleet } from './fleet.js';
import { HAPROXY, type Proxy } from './proxy.js';

/** How often an instance is replaced. */
const RESTARTS = Number(process.env.ROLLING_RESTARTS ?? 1);

/** More than the clients of a test in which no request may fail. */
const MAX_REQUESTS_PER_CLIENT = '16';

const PATHS = ['/brands?limit=20', '/brands/b7'];

const { describe: describeWithProxy } = withTool(HAPROXY);

describeWithProxy('Any number of instances behind HAProxy, found by their name:', () => {
  let database: TestDatabase;
  let headers: Credentials;
  let fleet: Fleet;
  const instances: Instance[] = [];
  let proxy: Proxy;
  let running: Load | undefined;

  beforeAll(async () => {
    database = await createDatabase();
    headers = (await loadBrands(database.url, ['tester'], 100)).tester;
    fleet = await Fleet.on(database.url);
    proxy = await fleet.proxyBefore([]);
  });
  // A load that a failed test left running would keep Jest from its end.
  afterEach(() => running?.stop());
  afterAll(async () => {
    await fleet.end();
    await database.drop();
  });

  /** Starts an instance. The name has its address before it listens, as that of a container. */
  async function add(): Promise<void> {
    const host = fleet.newHost();
    const starting = fleet.startAt(host, { MAX_REQUESTS_PER_CLIENT });
    proxy.hosts = [...instances.map((instance) => instance.host), host];
    instances.push(await starting);
    await proxy.untilReady(instances.length);
  }

  /** Stops the oldest instance. */
  async function remove(): Promise<void> {
    expect((await instances.shift()?.stop())?.status).toBe(0);
    proxy.hosts = instances.map(({ host }) => host);
    await proxy.untilReady(instances.length);
  }

  const load = (clients: number): Load =>
    new Load(clients, [`http://127.0.0.1:${proxy.port}`], PATHS, headers);

  const failed = (outcomes: readonly Outcome[]): Outcome[] =>
    outcomes.filter(({ errcode }) => errcode !== '0');

  /** The requests that each instance has answered, or refused with an errcode. */
  async function counts(errcode?: string): Promise<number[]> {
    const line = errcode
      ? `catalogue_refusals_total\\{errcode="${errcode}"\\}`
      : 'catalogue_request_duration_seconds_count\\{.*\\}';
    return Promise.all(
      instances.map(async ({ adminAddress }) => {
        const text = await (await fetch(`${adminAddress}/metrics`)).text();
        return [...text.matchAll(new RegExp(`^${line} (\\d+)$`, 'gm'))]
          .map(([, count]) => Number(count))
          .reduce((sum, count) => sum + count, 0);
      }),
    );
  }

  it('each that is added takes requests', async () => {
    expect(await proxy.readiness()).toBe(503);
    for (const count of [1, 2, 3]) {
      await add();
      expect(instances).toHaveLength(count);
      expect(await proxy.readiness()).toBe(200);
      const before = await counts();
      running = load(4);
      await running.untilMore(20 * count);
      expect(failed(await running.stop())).toEqual([]);
      // The metrics are up to 250 ms old.
      await until(async () => {
        const after = await counts();
        return after.every((total, at) => total > (before[at] ?? 0));
      });
    }
  });

  // As deploy/restart.sh does it.
  it('they are replaced one after another without a failed request', async () => {
    running = load(4);
    for (let at = 0; at < RESTARTS; at += 1) {
      await add();
      await remove();
    }
    const outcomes = await running.stop();
    console.info(`${RESTARTS} replaced, ${outcomes.length} requests`);
    expect(outcomes.length).toBeGreaterThan(20);
    expect(failed(outcomes)).toEqual([]);
  });

  it('what one refuses as too much is not asked of the others', async () => {
    const denied = () => proxy.metric('haproxy_backend_requests_denied_total');
    const before = await denied();
    running = load(100);
    // A fast machine answers hundreds before one instance has too much.
    await until(async () => (await counts('-4')).some((count) => count > 0), 60_000);
    const refused = (await running.stop()).filter(({ errcode }) => errcode === '-4').length;
    expect(refused).toBeGreaterThan(0);
    // By the instances, and by the proxy, which cannot give all of them to an instance.
    const sumRefused = async () =>
      [...(await counts('-4')), await denied()].reduce((sum, count) => sum + count, -before);
    await until(async () => (await sumRefused()) >= refused);
    expect(await sumRefused()).toBe(refused);
  });
});
