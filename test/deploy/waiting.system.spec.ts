import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { newToken } from '#server/clients/token.js';
import { connectedTo, createDatabase, type TestDatabase } from '#server/testing/database.js';
import { type Credentials, loadBrands } from '../database/load-brands.js';
import type { Instance } from '../faults/instance.js';
import { withTool } from '../tools.js';
import { until } from '../until.js';
import { Fleet } from './fleet.js';
import { HAPROXY, type Proxy } from './proxy.js';

const { describe: describeWithProxy } = withTool(HAPROXY);

/** More than the slots of both instances and the queue before them. */
const MANY = 180;
/** Connections with made-up tokens, and the requests of a client beside them. */
const [MADE_UP, BESIDE] = [Number(process.env.MADE_UP_TOKENS ?? 300), 30];

describeWithProxy('Requests that wait, behind HAProxy:', () => {
  let database: TestDatabase;
  let writer: Client;
  let headers: Credentials;
  let fleet: Fleet;
  const instances: Instance[] = [];
  let proxy: Proxy;

  beforeAll(async () => {
    database = await createDatabase();
    writer = await connectedTo(database.url);
    headers = (await loadBrands(database.url, ['tester'], 3)).tester;
    fleet = await Fleet.on(database.url);
    instances.push(await fleet.start(), await fleet.start());
    // No other time-out ends them.
    const timeouts = { client: '1s', server: '1s' };
    proxy = await fleet.proxyBefore(
      instances.map(({ host }) => host),
      timeouts,
    );
    await proxy.untilReady(2);
  });
  afterAll(async () => {
    await fleet.end();
    await writer.end();
    await database.drop();
  });

  const change = () => writer.query(`UPDATE brands SET name = name || '.' WHERE "brandID" = 'b0'`);

  const get = (sent: Credentials = {}, signal?: AbortSignal): Promise<Response> =>
    fetch(`http://127.0.0.1:${proxy.port}/brands`, { headers: { ...headers, ...sent }, signal });

  /** Headers of a request that waits for a change of what there is. */
  async function waiting(seconds = 30): Promise<Credentials> {
    // HAProxy may be closing the connection that was kept, for its short time-out.
    const current = await get().catch(() => get());
    const etag = current.headers.get('etag') ?? '';
    return { 'If-None-Match': etag, Prefer: `wait=${seconds}` };
  }

  /** Waits until some instances together have a number of waiting requests. */
  async function untilWaiting(count: number, at = instances): Promise<void> {
    await until(async () => {
      const texts = await Promise.all(
        at.map(async ({ adminAddress }) => (await fetch(`${adminAddress}/metrics`)).text()),
      );
      const counts = texts.map((text) => /^catalogue_requests_waiting (\d+)$/m.exec(text)?.[1]);
      return counts.reduce((sum, each) => sum + Number(each), 0) === count;
    });
  }

  it('take no slots, and are answered when there is a change, at each instance', async () => {
    const sent = await waiting();
    const answers: Promise<Response>[] = [];
    // Within what HAProxy and an instance take at a time.
    while (answers.length < MANY) {
      for (let at = 0; at < 20; at += 1) answers.push(get(sent));
      await untilWaiting(answers.length);
    }
    expect(await proxy.metric('haproxy_backend_current_sessions')).toBe(0);
    await sleep(1500);
    expect((await get()).status).toBe(200);
    const changed = performance.now();
    await change();
    for (const answer of await Promise.all(answers)) {
      expect(answer.status).toBe(200);
      expect(answer.headers.get('preference-applied')).toBe('wait=30');
    }
    expect(performance.now() - changed).toBeLessThan(15_000);
  });

  it('do not wait before an instance has found their token valid', async () => {
    const fresh = await fleet.proxyBefore(instances.map(({ host }) => host));
    await fresh.untilReady(2);
    const sent = { ...headers, ...(await waiting(1)) };
    const answers: (string | null)[] = [];
    for (let at = 0; at < 2; at += 1) {
      const answer = await fetch(`http://127.0.0.1:${fresh.port}/brands`, { headers: sent });
      expect(answer.status).toBe(304);
      answers.push(answer.headers.get('preference-applied'));
    }
    expect(answers).toEqual([null, 'wait=1']);
    // The pages of the documentation need no token.
    const madeUp = { ...sent, Authorization: `Bearer ${newToken()}` };
    for (const [path, status] of [
      ['/docs', 200],
      ['/brands', 401],
    ] as const) {
      const answer = await fetch(`http://127.0.0.1:${fresh.port}${path}`, { headers: madeUp });
      expect(answer.status).toBe(status);
    }
    expect(await fresh.metric('haproxy_backend_sessions_total', 'waiting')).toBe(1);
  });

  it('and others make no word valid but the token that the service has read', async () => {
    const guarded = await fleet.proxyBefore(instances.map(({ host }) => host));
    await guarded.untilReady(2);
    const token = headers.Authorization?.replace('Bearer ', '');
    const status = async (query: string, ...authorization: string[]): Promise<unknown> => {
      const path = `/brands?clientID=tester&name=x${query}`;
      const asked = request({
        port: guarded.port,
        path,
        headers: { Authorization: authorization },
        agent: false,
      });
      const [response] = (await once(asked.end(), 'response')) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    const statuses = [
      await status(`&access_token=${token}`, `Basic ${newToken()}`),
      await status(`&access_token=${token}`, `Bearer ${newToken()} x`),
      await status('', `Basic ${newToken()}`, `Bearer ${token}`),
      await status('', `Bearer ${token}`, `Basic ${newToken()}`),
      await status(`&access%5Ftoken=${token}`, `Basic ${newToken()}`),
      await status(`;access_token=${newToken()}&access_token=${token}`),
      await status(`?access_token=${newToken()}&access_token=${token}`),
    ];
    expect([await guarded.entries('valid'), ...statuses]).toEqual([0, ...statuses.map(() => 200)]);
    expect(await status(`a%20b+c&access_token=${token}`)).toBe(200);
    expect(await guarded.entries('valid')).toBe(1);
    expect(await status('', `bearer  ${token}`)).toBe(200);
    expect(await guarded.entries('valid')).toBe(1);
  });

  it('with made-up tokens are those of one client, beside which no other loses a request', async () => {
    const flooded = await fleet.proxyBefore(instances.map(({ host }) => host));
    await flooded.untilReady(2);
    const errcode = async (): Promise<string> => {
      const answer = await fetch(`http://127.0.0.1:${flooded.port}/brands`, { headers });
      return ((await answer.json()) as { result: { errcode: string } }).result.errcode;
    };
    expect(await errcode()).toBe('0');
    let refused = 0;
    const sockets = Array.from({ length: MADE_UP }, () => {
      const socket = connect(flooded.port, '127.0.0.1');
      const ask = () =>
        socket.write(
          `GET /brands?updatedSince=2027-01-01T00:00:00Z HTTP/1.1\r\nHost: a\r\nPrefer: wait=60\r\nX-Client-ID: tester\r\nAuthorization: Bearer ${newToken()}\r\n\r\n`,
        );
      socket.on('connect', ask);
      socket.on('data', () => {
        refused += 1;
        setTimeout(ask, 500);
      });
      socket.on('error', () => undefined);
      return socket;
    });
    try {
      await until(() => refused >= MADE_UP);
      for (let at = 0; at < BESIDE; at += 1) expect(await errcode()).toBe('0');
      expect(await flooded.metric('haproxy_backend_sessions_total', 'waiting')).toBe(0);
      expect(await flooded.entries('instances')).toBe(2);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  it('end when their client is gone', async () => {
    const sent = await waiting();
    const ending = new AbortController();
    const answer = get(sent, ending.signal);
    await untilWaiting(1);
    ending.abort();
    await expect(answer).rejects.toThrow();
    await untilWaiting(0);
  });

  it('are requests like any other, which do not wait, if they come too often', async () => {
    const often = await fleet.proxyBefore(
      instances.map(({ host }) => host),
      {},
      { 'sc_http_req_rate(2) le 2000': 'sc_http_req_rate(2) le 0' },
    );
    await often.untilReady(2);
    const sent = { ...headers, ...(await waiting()) };
    // From the second on, their token is known to be valid.
    for (let at = 0; at < 2; at += 1) {
      const answer = await fetch(`http://127.0.0.1:${often.port}/brands`, { headers: sent });
      expect([answer.status, answer.headers.get('preference-applied')]).toEqual([304, null]);
    }
  });

  it('wait at another instance if theirs is killed, and are answered before it stops', async () => {
    const [first, second] = instances;
    if (!first || !second) throw new Error('There are two instances');
    const sent = await waiting();
    const answers = [get(sent), get(sent)];
    await untilWaiting(2);
    await first.kill();
    await untilWaiting(2, [second]);
    const { status, milliseconds } = await second.stop();
    expect((await Promise.all(answers)).map((answer) => answer.status)).toEqual([304, 304]);
    expect(status).toBe(0);
    expect(milliseconds).toBeLessThan(15_000);
  });
});
