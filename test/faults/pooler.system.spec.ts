import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { catalogue } from '../cli/catalogue.js';
import { type Credentials, loadBrands } from '../database/load-brands.js';
import { withTool } from '../tools.js';
import { until } from '../until.js';
import { connectedTo, createDatabase, type TestDatabase } from '#server/testing/database.js';
import { Instance } from './instance.js';
import { Load } from './load.js';
import { PGBOUNCER, PGBOUNCER_VERSION, Pooler, type PoolerSettings } from './pooler.js';

const { describe } = withTool(PGBOUNCER);

/** Those in which a connection has no session of its own. */
const FORMS: PoolerSettings[] = [
  { pool_mode: 'transaction' },
  { pool_mode: 'transaction', server_reset_query_always: 1 },
  { pool_mode: 'transaction', server_round_robin: 1 },
  { pool_mode: 'statement' },
  ...(['1.18', '1.19', '1.20'].includes(PGBOUNCER_VERSION)
    ? []
    : [0, 200].map((max) => ({ pool_mode: 'transaction', max_prepared_statements: max }))),
];
const SHARED = 'The pooler before the database lets connections share a session';
/** Concurrent clients: more than the service has connections. */
const CLIENTS = 24;
const PATHS = [
  '/brands?limit=20',
  '/brands?offset=50',
  '/brands?name=Brand%207',
  '/products?limit=5',
];
/** Errors by which a client knows that it may ask again. */
const REPEATABLE = ['-2', '-3', '-4'];

describe(`PgBouncer ${PGBOUNCER_VERSION}`, () => {
  let database: TestDatabase;
  let headers: Credentials;

  beforeAll(async () => {
    database = await createDatabase();
    headers = (await loadBrands(database.url, ['tester'], 200)).tester;
  });
  afterAll(() => database.drop());

  /** Runs work beside requests to an instance. Returns how many of them ended with which errcode. */
  async function answers(
    settings: PoolerSettings,
    work: (pooler: Pooler, load: Load, instance: Instance) => Promise<void>,
    environment: NodeJS.ProcessEnv = {},
  ): Promise<Record<string, number>> {
    const pooler = await Pooler.before(database.url, settings);
    const url = new URL(pooler.url);
    url.searchParams.set('options', '-c work_mem=7MB --lock-timeout=1');
    const instance = await Instance.start(url.href, { PAGE_CACHE_MB: '0', ...environment });
    const load = new Load(CLIENTS, [instance.address], PATHS, headers);
    try {
      await load.untilMore(100);
      await work(pooler, load, instance);
    } finally {
      await load.stop();
      expect(await instance.stop()).toMatchObject({ status: 0 });
      await pooler.remove();
    }
    const counts: Record<string, number> = {};
    for (const { errcode = 'none' } of load.outcomes) counts[errcode] = (counts[errcode] ?? 0) + 1;
    const others = Object.keys(counts).filter((each) => each !== '0' && !REPEATABLE.includes(each));
    expect(others).toEqual([]);
    return counts;
  }

  /** Waits until a number of requests in a row has succeeded. */
  const untilWell = (load: Load, requests = 200): Promise<void> =>
    until(
      () =>
        load.outcomes.length > requests &&
        load.outcomes.slice(-requests).every(({ errcode }) => errcode === '0'),
    );

  it('in session mode serves beside its restarts', async () => {
    await answers({}, async (pooler, load) => {
      for (let turn = 0; turn < 3; turn += 1) {
        await pooler.stop();
        await load.untilMore(50);
        await pooler.start();
        await untilWell(load);
      }
      await load.untilMore(300);
    });
  });

  it('in session mode serves beside RELOAD, PAUSE and short lives of its connections', async () => {
    const counts = await answers(
      { server_lifetime: 1, server_idle_timeout: 1 },
      async (pooler, load) => {
        for (let turn = 0; turn < 5; turn += 1) {
          await pooler.reload({ server_lifetime: 1, server_idle_timeout: 2 + turn });
          await load.untilMore(100);
          await pooler.order('RECONNECT');
          await load.untilMore(100);
        }
        // It would wait for the end of all sessions.
        void pooler.order('PAUSE').catch(() => undefined);
        await sleep(500);
        await pooler.order('RESUME');
        await untilWell(load);
      },
    );
    expect(Object.keys(counts)).toEqual(['0']);
  });

  it.each([
    ['fewer connections than the service', { default_pool_size: 4 }, {}],
    ['a short wait', { default_pool_size: 4, query_wait_timeout: 1 }, {}],
    ['a limit of clients', { max_client_conn: 8 }, {}],
    ['no reset of what a connection leaves', { server_reset_query: '' }, {}],
  ] as const)(
    'in session mode with %s says what may be asked again',
    async (_what, settings, environment) => {
      await answers(
        settings,
        async (_pooler, load) => {
          await sleep(10_000);
          await load.untilMore(300);
        },
        environment,
      );
    },
  );

  it('whose mode changes while an instance runs', async () => {
    for (const pool_mode of ['transaction', 'statement'])
      await answers({}, async (pooler, load, instance) => {
        await pooler.reload({ pool_mode });
        await load.untilMore(1000);
        await until(() => instance.output.includes(SHARED));
        await pooler.reload({});
        await untilWell(load);
      });
  });
  describe.each(FORMS)('with %j', (settings) => {
    it('is refused by name, also beside other clients', async () => {
      const pooler = await Pooler.before(database.url, settings);
      const environment = { DATABASE_URL: pooler.url, PORT: '0', ADMIN_PORT: '0' };
      let isOver = false;
      const others = Array.from({ length: 6 }, async () => {
        const client = await connectedTo(pooler.url);
        while (!isOver) await client.query('SELECT pg_sleep(random() / 100)');
        await client.end();
      });
      try {
        for (const command of ['start', 'migrate'])
          expect(await catalogue([command], environment)).toEqual({
            status: 1,
            stdout: expect.not.stringContaining('listens'),
            // In statement mode, PgBouncer may be the first to say so.
            stderr: expect.stringMatching(
              new RegExp(`^catalogue: (${SHARED}|.* in statement pooling mode)`, 'm'),
            ),
          });
      } finally {
        isOver = true;
        await Promise.all(others);
        await pooler.remove();
      }
    });
  });
});
