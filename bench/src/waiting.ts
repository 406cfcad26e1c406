import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { credentials, SERVICE, startAlone } from './contenders.js';
import { query } from './database.js';
import { residentMemory } from './processes.js';

/** Most of one client that wait at an instance. */
const OF_CLIENT = 1000;
/** Connections that are opened at a time. */
const AT_ONCE = 10;
/** Seconds for which nothing changes. */
const IDLE = 30;
const PATH = '/products?limit=50';

/** What connections cost that wait for a change, and when they are answered. */
interface Waiting {
  readonly connections: number;
  /** MiB: before, while all wait, and 30 seconds later. */
  readonly memory: readonly [number, number, number];
  /** The share of a core that the service takes for 30 seconds: without connections, and while all wait. */
  readonly cpu: readonly [number, number];
  /** Milliseconds from a commit until a connection was answered: the first, the median, the last. */
  readonly answered: readonly [number, number, number];
}

/** Opens connections to a service, has each wait for a change, and makes one. */
export async function waiting(databaseUrl: string, connections: number): Promise<Waiting> {
  const { server, headers } = await startAlone(databaseUrl, SERVICE);
  const sockets: Socket[] = [];
  try {
    const clients: Record<string, string>[] = [];
    while (clients.length * OF_CLIENT < connections) clients.push(await credentials(databaseUrl));
    const { host, port, hostname } = new URL(server.address);
    const response = await fetch(server.address + PATH, { headers });
    await response.text();
    const conditions = { 'If-None-Match': response.headers.get('etag') ?? '', Prefer: 'wait=60' };
    const cpuSeconds = async () => Number(await metric('process_cpu_seconds_total'));
    const metric = async (name: string): Promise<string> => {
      const text = await (await fetch(`${server.adminAddress ?? server.address}/metrics`)).text();
      return new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1] ?? '';
    };
    const idle = async (): Promise<number> => {
      const before = await cpuSeconds();
      await sleep(IDLE * 1000);
      return ((await cpuSeconds()) - before) / IDLE;
    };
    const alone = await idle();
    const before = await residentMemory(server.pid);
    const answers: Promise<number>[] = [];
    while (sockets.length < connections) {
      const opened = Array.from({ length: Math.min(AT_ONCE, connections - sockets.length) }, () =>
        connect(Number(port), hostname),
      );
      await Promise.all(opened.map((socket) => once(socket, 'connect')));
      for (const socket of opened) {
        const sent = { ...clients[sockets.length % clients.length], ...conditions };
        const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.write(`GET ${PATH} HTTP/1.1\r\nHost: ${host}\r\n${lines.join('')}\r\n`);
        answers.push(answerOf(socket));
        sockets.push(socket);
      }
      await sleep(AT_ONCE);
    }
    // The metrics are a quarter of a second old.
    while (Number(await metric('catalogue_requests_waiting')) < connections) await sleep(250);
    const during = await residentMemory(server.pid);
    const whileWaiting = await idle();
    const after = await residentMemory(server.pid);
    await query(
      databaseUrl,
      `UPDATE products SET stock = 1 - COALESCE(stock, 0)
       WHERE "productID" = (SELECT min("productID") FROM products)`,
    );
    const changed = performance.now();
    const times = (await Promise.all(answers)).map((at) => at - changed).sort((a, b) => a - b);
    const [first = 0, middle = 0, last = 0] = [0, times.length >> 1, times.length - 1].map((at) =>
      Math.round(times[at] ?? 0),
    );
    return {
      connections,
      memory: [before, during, after],
      cpu: [alone, whileWaiting],
      answered: [first, middle, last],
    };
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.stop();
  }
}

/** When a connection has its answer, as `performance.now()`. Throws unless that is a page. */
async function answerOf(socket: Socket): Promise<number> {
  const [data] = (await once(socket, 'data')) as [Buffer];
  const status = data.subarray(9, 12).toString();
  if (status !== '200') throw new Error(`A connection that waited got ${status}`);
  return performance.now();
}
