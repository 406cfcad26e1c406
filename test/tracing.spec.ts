import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { connectedTo } from '#server/testing/database.js';
import { VERSION } from '#server/package.js';
import { Collector } from './collector.js';
import { type Service, startService } from './service.js';
import { until } from './until.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

let collector: Collector;
let service: Service;
/** What the service wrote to its log during a test. */
let lines: string[];

beforeAll(async () => {
  process.env.OTEL_BSP_SCHEDULE_DELAY = '50';
  collector = await Collector.start();
  service = await startService({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    LOG_LEVEL: 'info',
    QUERY_TIMEOUT_MS: '300',
    POOL_SIZE: '2',
  });
});
beforeEach(() => {
  lines = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => lines.push(String(chunk)) > 0);
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(async () => {
  await service.stop();
  await collector.stop();
  delete process.env.OTEL_BSP_SCHEDULE_DELAY;
});

/** Asks for a path within a trace of its own. Returns its spans. */
async function spansFor(path: string, headers: Record<string, string> = {}) {
  const id = Math.random().toString(16).slice(2).padEnd(32, '0');
  await service.get(path).set({ traceparent: `00-${id}-${CALLER}-01`, ...headers });
  await until(() => collector.trace(id).some(({ parentSpanId }) => parentSpanId === CALLER));
  return collector.trace(id);
}

it('A request is a span within that of its caller, and its phases are spans within it', async () => {
  await service
    .get('/brands?limit=3')
    .set('X-Request-Id', 'mine')
    .set('traceparent', `00-${TRACE}-${CALLER}-01`)
    .expect(200);
  await until(() => collector.trace(TRACE).length >= 5 && lines.join('').includes('mine'));
  const [request, ...phases] = collector.trace(TRACE);
  expect(request).toMatchObject({ name: 'GET /brands', parentSpanId: CALLER, isError: false });
  expect(request?.attributes).toEqual({
    'catalogue.plan': 'facet',
    'catalogue.counted_by': 'tally',
    'http.request.method': 'GET',
    'http.route': '/brands',
    'http.response.status_code': 200,
    'catalogue.request_id': 'mine',
    'catalogue.client': 'tester',
    'catalogue.errcode': 0,
    'catalogue.rows': 0,
  });
  expect(request?.resource).toMatchObject({
    'service.name': 'catalogue',
    'service.version': VERSION,
  });
  expect(phases.map(({ name }) => name)).toEqual([
    'admission',
    'validation',
    'query',
    'serialisation',
  ]);
  let before = request?.began ?? 0n;
  for (const phase of phases) {
    expect(phase.parentSpanId).toBe(request?.spanId);
    expect(phase.began).toBeGreaterThanOrEqual(before);
    before = phase.ended;
  }
  expect(request?.ended).toBeGreaterThanOrEqual(before);
  const line =
    lines
      .join('')
      .split('\n')
      .find((each) => each.includes('mine')) ?? '';
  expect(JSON.parse(line)).toMatchObject({ traceId: TRACE, spanId: request?.spanId });
});

it('A page from memory looks its version up, and a whole list is sent as it is read', async () => {
  await spansFor('/brands?limit=7');
  const names = (spans: { name: string }[]) => spans.slice(1).map(({ name }) => name);
  expect(names(await spansFor('/brands?limit=7'))).toEqual(['admission', 'validation', 'version']);
  expect(names(await spansFor('/brands', { Accept: 'text/csv' }))).toEqual([
    'admission',
    'validation',
    'query',
    'serialisation',
  ]);
  expect(names(await spansFor('/brands?nonsense=secret'))).toEqual(['admission', 'validation']);
  expect(names(await spansFor('/secret'))).toEqual(['admission']);
  expect(
    JSON.stringify(collector.spans.map(({ name, attributes }) => [name, attributes])),
  ).not.toMatch(/secret|nonsense/);
});

it('A query that takes too long is the span that failed, and reads of one client wait in theirs', async () => {
  jest.spyOn(process.stderr, 'write').mockImplementation(() => true);
  const blocker = await connectedTo(service.database.url);
  await blocker.query('BEGIN; LOCK TABLE brands IN ACCESS EXCLUSIVE MODE');
  const [first, second] = await Promise.all([
    spansFor('/brands?offset=1'),
    spansFor('/brands?offset=2'),
  ]);
  await blocker.query('ROLLBACK');
  await blocker.end();
  for (const [request, ...phases] of [first, second]) {
    expect(request).toMatchObject({ isError: true, attributes: { 'catalogue.errcode': -3 } });
    expect(phases.filter(({ isError }) => isError).map(({ name }) => name)).toEqual(['query']);
    const { began = 0n, ended = 0n } = phases.at(-1) ?? {};
    expect(Number(ended - began) / 1e6).toBeGreaterThan(250);
  }
  // Half of a pool of two is one.
  expect([...first, ...second].filter(({ name }) => name === 'queue')).toHaveLength(1);
});

it('A trace that its caller does not sample is not exported', async () => {
  const id = 'a'.repeat(32);
  await service.get('/brands').set('traceparent', `00-${id}-${CALLER}-00`).expect(200);
  await spansFor('/brands');
  expect(collector.trace(id)).toEqual([]);
});

it.each([
  ['', 0],
  ['http://127.0.0.1:9', 1],
])(
  'With the collector “%s”, the packages are loaded only if there is one',
  async (url, atLeast) => {
    const script = `
    const { createApplication } = await import('#server/application.js');
    const { Settings } = await import('#server/settings/settings.js');
    const { AppModule } = await import('./dist/app.module.js');
    const project = { module: AppModule, folder: 'dist' };
    const settings = new Settings(process.env);
    const application = await createApplication(project, settings.databaseUrl, settings);
    const { _cache } = (await import('node:module')).default;
    console.log(Object.keys(_cache).filter((file) => /@opentelemetry.(sdk|exporter|core|resources)/.test(file)).length);
    await application.close();
  `;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', script],
      {
        env: {
          PATH: process.env.PATH,
          DATABASE_URL: service.database.url,
          OTEL_EXPORTER_OTLP_ENDPOINT: url,
          LOG_LEVEL: 'error',
        },
      },
    );
    const loaded = Number(stdout.trim().split('\n').at(-1));
    if (atLeast === 0) expect(loaded).toBe(0);
    else expect(loaded).toBeGreaterThanOrEqual(atLeast);
  },
);
