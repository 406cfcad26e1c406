import { credentials, startService, UNCACHED } from './contenders.js';
import { behindHaproxy } from './haproxy.js';
import type { OpenLoad, OpenLoadResult } from './open-loop.js';
import { type Server, Worker } from './processes.js';
import type { Slice, SliceResult } from './slice.js';

/** How many times as many requests are sent as can be answered. */
const TIMES = [2, 5, 10];
const CONNECTIONS = [50, 500, 2000];
/** One client alone would reach its own limit before that of the service. */
const CLIENTS = 8;
/** Connections of the load that tells how many requests can be answered. */
const USUAL = 16;
/** Seconds from one load to the next. */
const PAUSE = 2;
const PATH = '/products';

/** What came of asking for more than can be answered, with every page read from the database. */
export interface Overload {
  /** Requests a second that the service answers, by 16 connections that wait for their answers. */
  readonly best: number;
  readonly loads: readonly OverloadMeasurement[];
}

export interface OverloadMeasurement extends OpenLoadResult {
  readonly contender: string;
  readonly connections: number;
  /** Requests a second, in those of `best`. */
  readonly times: number;
}

/** Sends the service more requests than it can answer, to it alone and behind HAProxy in turns, for some seconds each. */
export async function overload(databaseUrl: string, seconds: number): Promise<Overload> {
  const clients: Record<string, string>[] = [];
  while (clients.length < CLIENTS) clients.push(await credentials(databaseUrl));
  const start = (): Promise<Server> => startService(databaseUrl, { PAGE_CACHE_MB: '0' });
  const services = [
    { name: UNCACHED, server: await start() },
    {
      name: 'this service behind HAProxy, no page cache',
      server: await behindHaproxy(await start()),
    },
  ];
  const closed = new Worker<Slice, SliceResult>('slice.js');
  const open = new Worker<OpenLoad, OpenLoadResult>('open-loop.js');
  const answered = async ({ address }: Server): Promise<number> => {
    const [headers = {}] = clients;
    const slice = { url: address + PATH, headers, connections: USUAL, status: 200 };
    return (await closed.run({ ...slice, seconds, longest: seconds })).perSecond;
  };
  try {
    const bests: number[] = [];
    for (const { server } of services) {
      // The first time, V8 still compiles what is run often.
      await answered(server);
      bests.push(await answered(server));
    }
    const [best = NaN] = bests;
    const loads: OverloadMeasurement[] = [];
    for (const connections of CONNECTIONS) {
      for (const times of TIMES) {
        for (const { name, server } of services) {
          console.error(`Overload: ${connections} connections, ${times} times, ${name}`);
          const result = await open.run({
            url: server.address + PATH,
            healthUrl: `${server.adminAddress ?? server.address}/health/ready`,
            clients,
            connections,
            rate: Math.round(times * best),
            seconds,
          });
          loads.push({ contender: name, connections, times, ...result });
          await new Promise((resolve) => setTimeout(resolve, PAUSE * 1000));
        }
      }
    }
    return { best, loads };
  } finally {
    await Promise.all([closed.stop(), open.stop()]);
    for (const { server } of services) await server.stop();
  }
}
