import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import type { Client } from 'pg';
import { Admission } from '#server/http/server/admission.js';
import { Settings } from '#server/settings/settings.js';
import { connectedTo, createDatabase, type TestDatabase } from '#server/testing/database.js';
import { type Credentials, loadBrands } from '../database/load-brands.js';
import type { Instance } from '../faults/instance.js';
import { withTool } from '../tools.js';
import { until } from '../until.js';
import { Fleet } from './fleet.js';
import { HAPROXY, type Proxy } from './proxy.js';

const { describe: describeWithProxy } = withTool(HAPROXY);

/** As in `deploy/haproxy.cfg`. */
const SLOTS = 24;
const QUEUE = 60;
/** What the queue takes of clients with many requests while nearly every request finds one. */
const STANDING_QUEUE = 4;
const SHARE = 20;

/** HAProxy decides in two threads, each without the latest of the other. */
const MORE = 10;

const { poolSize } = new Settings({ DATABASE_URL: 'postgres://localhost/catalogue' });

interface Answer {
  readonly status: number;
  readonly errcode: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Requests whose answers come in their own time. */
class Sent {
  readonly answers: Answer[] = [];
  readonly all: Promise<unknown>;

  constructor(count: number, ask: () => Promise<Answer>) {
    this.all = Promise.all(
      Array.from({ length: count }, async () => this.answers.push(await ask())),
    );
  }

  get refused(): Answer[] {
    return this.answers.filter(({ errcode }) => errcode === '-4');
  }

  /** Waits until a number of requests is refused and no further one, while the others wait. */
  async untilRefused(count: number): Promise<void> {
    await until(() => this.answers.length >= count);
  }
}

describeWithProxy('More requests than an instance can take, behind HAProxy:', () => {
  let database: TestDatabase;
  let clients: Record<'greedy' | 'normal', Credentials>;
  let crowd: Credentials[];
  let fleet: Fleet;
  let instance: Instance;
  let proxy: Proxy;
  /** Holds the lock that keeps requests for brands waiting. */
  let blocker: Client;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    database = await createDatabase();
    clients = await loadBrands(database.url, ['greedy', 'normal'], 10);
    const names = Array.from({ length: 6 }, (_, at) => `client${at}`);
    crowd = Object.values(await loadBrands(database.url, names, 0));
    blocker = await connectedTo(database.url);
    fleet = await Fleet.on(database.url);
    // Longer than any wait of HAProxy.
    instance = await fleet.start({ QUERY_TIMEOUT_MS: '30000' });
  });
  /** A new one, which has seen no client. */
  const newProxy = async (texts: Readonly<Record<string, string>> = {}): Promise<void> => {
    proxy = await fleet.proxyBefore([instance.host], {}, texts);
    await proxy.untilReady(1);
  };
  /** A new one, to which the tokens of all clients are known. */
  const newProxyThatKnows = async (texts: Readonly<Record<string, string>> = {}): Promise<void> => {
    await newProxy(texts);
    for (const client of [...Object.values(clients), ...crowd])
      expect((await other(client)).errcode).toBe('0');
  };
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await blocker.query('ROLLBACK');
  });
  afterAll(async () => {
    await fleet.end();
    await blocker.end();
    await database.drop();
  });

  const lock = () => blocker.query('BEGIN; LOCK TABLE brands IN ACCESS EXCLUSIVE MODE');
  const unlock = () => blocker.query('ROLLBACK');

  async function ask(path: string, headers: Credentials, accept = '*/*'): Promise<Answer> {
    const response = await fetch(`http://127.0.0.1:${proxy.port}${path}`, {
      headers: { ...headers, Accept: accept },
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    const errcode = isJson
      ? (JSON.parse(text) as { result: { errcode: string } }).result.errcode
      : '0';
    return { status: response.status, errcode, headers: Object.fromEntries(response.headers) };
  }

  /** Lists of brands, each of which is another one. */
  let offset = 0;
  const brands = (count: number, headers: Credentials): Sent =>
    new Sent(count, () => ask(`/brands?offset=${(offset += 1)}`, headers));

  const other = (headers: Credentials) => ask('/categories', headers);

  /** A request for brands on a connection that is open before it is sent. */
  async function prepared(headers: Credentials) {
    const socket = connect(proxy.port, '127.0.0.1');
    sockets.push(socket);
    await once(socket, 'connect');
    const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}\r\n`);
    const path = `/brands?offset=${(offset += 1)}`;
    const answer = once(socket, 'data') as Promise<[Buffer]>;
    return {
      client: headers['X-Client-ID'],
      send: () => socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n${lines.join('')}\r\n`),
      errcode: answer.then(([data]) => /"errcode":"(.+?)"/.exec(data.toString())?.[1] ?? ''),
    };
  }

  /** Requests that the instance itself has refused as too much. */
  async function refusedByInstance(): Promise<number> {
    const text = await (await fetch(`${instance.adminAddress}/metrics`)).text();
    return Number(/^catalogue_refusals_total\{errcode="-4"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  }

  it('what fits into slots and queue is answered, HAProxy refuses the rest, and the instance nothing', async () => {
    await newProxy();
    const before = await refusedByInstance();
    await lock();
    const sent = brands(400, clients.greedy);
    await sent.untilRefused(400 - SLOTS - QUEUE - MORE);
    await unlock();
    await sent.all;
    const answered = sent.answers.filter(({ errcode }) => errcode === '0').length;
    expect(answered).toBeGreaterThanOrEqual(SLOTS + QUEUE);
    expect(answered).toBeLessThanOrEqual(SLOTS + QUEUE + MORE);
    expect(sent.refused).toHaveLength(400 - answered);
    expect(await refusedByInstance()).toBe(before);
    expect(await proxy.metric('haproxy_backend_requests_denied_total')).toBe(400 - answered);
  });

  it('a queue that stands is kept short, but for a client with few requests', async () => {
    // With two slots, the instance and not this process is what limits the rate.
    await newProxyThatKnows({ [`maxconn ${SLOTS}`]: 'maxconn 2' });
    expect((await other(clients.normal)).errcode).toBe('0');
    const answers: Answer[] = [];
    let isOver = false;
    const loops = Array.from({ length: SHARE }, async () => {
      while (!isOver) answers.push(await ask('/brands?limit=1', clients.greedy));
    });
    const refused = () => answers.filter(({ errcode }) => errcode === '-4').length;
    await until(() => refused() >= 100);
    const queues: number[] = [];
    for (let at = 0; at < 20; at += 1) {
      queues.push(await proxy.metric('haproxy_backend_current_queue'));
      expect((await other(clients.normal)).errcode).toBe('0');
    }
    isOver = true;
    await Promise.all(loops);
    queues.sort((one, another) => one - another);
    // Else all but two of them would always wait. On a busy machine they do at times.
    expect(queues[5]).toBeLessThanOrEqual(2 * STANDING_QUEUE);
    expect(answers.some(({ errcode }) => errcode === '0')).toBe(true);
  });

  it('a client beside one whose requests all hang is answered', async () => {
    await newProxyThatKnows();
    expect((await other(clients.normal)).errcode).toBe('0');
    await lock();
    const sent = brands(200, clients.greedy);
    await sent.untilRefused(200 - SHARE - MORE);
    for (let at = 0; at < 10; at += 1) expect((await other(clients.normal)).errcode).toBe('0');
    expect(sent.answers).toEqual(sent.refused);
    await unlock();
    await sent.all;
  });

  it('a client beside many comes before them in the queue, and is admitted to it when it is full', async () => {
    // With one slot the answers come in the order of the queue. Farther back, since on a slow machine some of
    // these requests arrive long before the others.
    await newProxyThatKnows({
      [`maxconn ${SLOTS}`]: 'maxconn 1',
      'mul(10)': 'mul(10000)',
      // With one slot, nearly every request finds a queue.
      'acl is_standing_queue sc_gpc0_rate(1)': 'acl is_standing_queue int(0)',
    });
    await lock();
    const order: string[] = [];
    const names = crowd.flatMap((client) => Array<Credentials>(2 * SHARE).fill(client));
    const all = await Promise.all([...names, clients.normal].map(prepared));
    const answers = all.map(async ({ client, errcode }) =>
      order.push(`${client} ${await errcode}`),
    );
    for (const { send } of all) send();
    // Those in the queue and in the slot, which the two threads may give to one request each.
    const admitted = () => proxy.metric('haproxy_backend_current_sessions');
    const queued = () => proxy.metric('haproxy_backend_current_queue');
    const refused = () => order.filter((answer) => answer.endsWith('-4')).length;
    await until(async () => refused() + (await admitted()) === all.length);
    const full = await queued();
    expect(full).toBeGreaterThanOrEqual(QUEUE);
    const later = other(clients.normal);
    await until(async () => (await queued()) > full);
    await unlock();
    expect((await later).errcode).toBe('0');
    await Promise.all(answers);
    const answered = order.filter((answer) => !answer.endsWith('-4'));
    expect(answered).toContain('normal 0');
    // As the last of the queue it would come after all that is in it.
    expect(answered.indexOf('normal 0')).toBeLessThan(QUEUE / 2);
  });

  it('whole lists leave slots free, and HAProxy refuses as the instance does', async () => {
    await newProxyThatKnows();
    expect((await other(clients.normal)).errcode).toBe('0');
    await lock();
    const lists = crowd
      .slice(0, 4)
      .map(
        (client) => new Sent(100, () => ask(`/brands?offset=${(offset += 1)}`, client, 'text/csv')),
      );
    const open = Math.ceil(poolSize / 2);
    await until(() => lists.flatMap(({ answers }) => answers).length === 400 - open);
    expect((await other(clients.normal)).errcode).toBe('0');
    const refused = lists.flatMap((sent) => sent.refused);
    expect(refused).toHaveLength(400 - open);
    const own = refused.find(({ headers }) => 'x-request-id' in headers);
    const denied = refused.find(({ headers }) => !('x-request-id' in headers));
    const ownOnly = ['x-request-id', 'date', 'keep-alive'];
    const both = Object.entries(own?.headers ?? {}).filter(([name]) => !ownOnly.includes(name));
    expect(denied?.headers).toEqual(Object.fromEntries(both));
    expect([denied?.status, denied?.headers['retry-after']]).toEqual([503, '1']);
    await unlock();
    await Promise.all(lists.map(({ all }) => all));
  });

  it('the slots are no more than an instance admits', async () => {
    const configuration = await readFile('deploy/haproxy.cfg', 'utf8');
    const slots = Number(/^ +default-server maxconn (\d+)$/m.exec(configuration)?.[1]);
    expect(slots).toBe(SLOTS);
    expect(slots).toBeLessThanOrEqual(Admission.of(poolSize).maximum);
    expect(slots).toBeGreaterThan(2 * Math.ceil(poolSize / 2));
  });
});
