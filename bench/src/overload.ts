import { credentials, startUncached } from './contenders.js';
import type { Greed, Statuses } from './greedy.js';
import type { OpenLoad, OpenLoadResult } from './open-loop.js';
import { residentMemory, type Server, Worker } from './processes.js';
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
/** A client that a greedy one must not disturb: connections, and requests a second. */
const MODERATE = { connections: 4, rate: 50 };
const GREED = { streams: 1000, requests: 10_000 };

/** What came of asking for more than can be answered, with every page read anew. */
export interface Overload {
  /** Requests a second that the service answers, by 16 connections that wait for their answers. */
  readonly best: number;
  readonly loads: readonly OverloadMeasurement[];
  /** As `best`, two seconds after all of these. */
  readonly after: number;
  readonly besides: readonly Beside[];
}

/** The latencies of a client, alone and beside one that opens 1,000 whole lists and sends 10,000 requests. */
export interface Beside {
  readonly contender: string;
  readonly alone: OpenLoadResult;
  readonly beside: OpenLoadResult;
  /** What the other one got. */
  readonly other: Statuses;
}

export interface OverloadMeasurement extends OpenLoadResult {
  readonly contender: string;
  readonly connections: number;
  /** Requests a second, in those of `best`. */
  readonly times: number;
  /** MiB after it. */
  readonly memory: number;
}

/**
 * Sends the service more requests than it can answer, to it alone, behind HAProxy, and to that of another
 * folder in turns.
 *
 * @param seconds of each load
 * @param baseline the folder; `undefined`: none
 */
export async function overload(
  databaseUrl: string,
  seconds: number,
  baseline: string | undefined,
): Promise<Overload> {
  const clients: Record<string, string>[] = [];
  while (clients.length < CLIENTS) clients.push(await credentials(databaseUrl));
  const services = await startUncached(databaseUrl, baseline);
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
            connectedBefore: PAUSE,
            rate: Math.round(times * best),
            seconds,
          });
          const memory = await residentMemory(server.pid);
          loads.push({ contender: name, connections, times, ...result, memory });
          await new Promise((resolve) => setTimeout(resolve, PAUSE * 1000));
        }
      }
    }
    const [service] = services;
    const after = service ? await answered(service.server) : NaN;
    const besides: Beside[] = [];
    for (const { name, server } of services) {
      console.error(`A client beside a greedy one, ${name}`);
      besides.push({ contender: name, ...(await beside(server, clients, seconds, open)) });
    }
    return { best, loads, after, besides };
  } finally {
    await Promise.all([closed.stop(), open.stop()]);
    for (const { server } of services) await server.stop();
  }
}

/** Measures a client that sends some requests a second, alone and beside another one. */
async function beside(
  { address, adminAddress }: Server,
  [headers = {}, greedy = {}]: readonly Record<string, string>[],
  seconds: number,
  open: Worker<OpenLoad, OpenLoadResult>,
): Promise<Omit<Beside, 'contender'>> {
  const url = address + PATH;
  const load = {
    url,
    healthUrl: `${adminAddress ?? address}/health/ready`,
    clients: [headers],
    connections: MODERATE.connections,
    connectedBefore: PAUSE,
    rate: MODERATE.rate,
    seconds,
  };
  const alone = await open.run(load);
  const other = new Worker<Greed, Statuses>('greedy.js');
  try {
    const greed = other.run({ url, headers: greedy, ...GREED, seconds: seconds + PAUSE });
    return { alone, beside: await open.run(load), other: await greed };
  } finally {
    await other.stop();
  }
}
