import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createDatabase, type TestDatabase } from '#server/testing/database.js';
import { loadBrands } from '../database/load-brands.js';
import type { Instance } from '../faults/instance.js';
import { Load } from '../faults/load.js';
import { HalfOpenClient } from '../http/half-open-client.js';
import { withTool } from '../tools.js';
import { until } from '../until.js';
import { refusalsIn } from './exchange.js';
import { Fleet } from './fleet.js';
import { HAPROXY, type Proxy } from './proxy.js';

const { describe: describeWithProxy } = withTool(HAPROXY);

interface Form {
  /** Of `HTTP/1.`. */
  readonly version?: 0 | 1;
  readonly headers: string;
  readonly body: string;
  /** HAProxy refuses it before its rules. Before 3.2.4, and sometimes later, it closes the connection. */
  readonly isUnparsed?: true;
}

/** The beginnings of requests whose bodies never end. */
const FORMS: readonly Form[] = [
  { headers: 'Content-Length: 4294967296\r\n', body: 'a' },
  { headers: 'Content-Length: 2147483648\r\n', body: 'a' },
  { headers: 'Content-Length: 100000\r\n', body: 'a' },
  { headers: 'Content-Length: 100000\r\n', body: 'a'.repeat(50_000) },
  { headers: 'Content-Length: 100000\r\nExpect: 100-continue\r\n', body: '' },
  { headers: 'Transfer-Encoding: chunked\r\n', body: '9\r\na' },
  { headers: 'Content-Length: 9\r\nTransfer-Encoding: chunked\r\n', body: '9\r\na' },
  { headers: 'Content-Length: nine\r\n', body: 'a', isUnparsed: true },
  { headers: 'Content-Length: 8\r\nContent-Length: 9\r\n', body: 'a', isUnparsed: true },
  { version: 0, headers: 'Content-Length: 9\r\n', body: 'a', isUnparsed: true },
];

const CONNECTIONS = 1000;
const INSTANCES = 4;

describeWithProxy(
  'A thousand requests with bodies that never end, each with a token of its own,',
  () => {
    let database: TestDatabase;
    let headers: Record<string, string>;
    let fleet: Fleet;
    let instances: Instance[];
    let proxy: Proxy;

    beforeAll(async () => {
      database = await createDatabase();
      headers = (await loadBrands(database.url, ['normal'], 20)).normal;
      fleet = await Fleet.on(database.url);
      instances = await Promise.all(Array.from({ length: INSTANCES }, () => fleet.start()));
      proxy = await fleet.proxyBefore(instances.map(({ host }) => host));
      await proxy.untilReady(INSTANCES);
    });
    afterAll(async () => {
      await fleet.end();
      await database.drop();
    });

    /** Sends one of them. It is held open for as long as the server lets it. */
    async function send(
      at: number,
      token: string,
      { version = 1, headers: own, body }: Form,
      isDirect: boolean,
    ) {
      const host = isDirect ? instances[(at / 4) % INSTANCES]?.host : '127.0.0.1';
      const port = isDirect ? Number(instances[0]?.ports.PORT) : proxy.port;
      const client = await HalfOpenClient.connect(port, host);
      const method = at % 3 === 0 ? 'POST' : 'GET';
      const [query, line] =
        at % 2 === 0
          ? [`?clientID=a&access_token=${token}`, '']
          : ['', `X-Client-ID: a\r\nAuthorization: Bearer ${token}\r\n`];
      client.write(
        `${method} /brands${query} HTTP/1.${version}\r\nHost: a\r\n${line}${own}\r\n${body}`,
      );
      return client;
    }

    it('fail no request of another client, and are closed', async () => {
      const load = new Load(4, [`http://127.0.0.1:${proxy.port}`], ['/brands'], headers);
      try {
        await load.untilMore(20);
        const sent = await Promise.all(
          FORMS.flatMap((form, kind) =>
            Array.from({ length: CONNECTIONS / FORMS.length }, async (_, at) => {
              const isDirect = at % 4 === 0;
              return {
                form,
                isDirect,
                client: await send(at, `made-up-${kind}-${at}`, form, isDirect),
              };
            }),
          ),
        );
        await load.untilMore(200);
        for (const { form, isDirect, client } of sent) {
          const refusals = refusalsIn(Buffer.from(await client.untilEndAsText(), 'latin1'));
          const mayBeClosed = form.isUnparsed && !isDirect && refusals.length === 0;
          if (!mayBeClosed) expect([form, refusals]).toEqual([form, [[400, '-20']]]);
        }
        await load.untilMore(20);
        // Their clients still keep them open.
        await until(async () => (await connections()) <= 4);
        for (const { client } of sent) client.destroy();
      } finally {
        const outcomes = await load.stop();
        expect(outcomes.filter(({ status }) => status !== 200)).toEqual([]);
      }
      // None has taken a slot, or counts as a client.
      expect(await proxy.metric('haproxy_backend_http_requests_total')).toBe(load.outcomes.length);
    });

    /** Connections that HAProxy has open to clients. */
    async function connections(): Promise<number> {
      const metrics = await proxy.metrics('?scope=frontend');
      const value = /^haproxy_frontend_current_sessions\{proxy="catalogue"\} (\d+)$/m.exec(metrics);
      return Number(value?.[1]);
    }
  },
);
