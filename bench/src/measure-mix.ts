import { join } from 'node:path';
import pg from 'pg';
import { type Contender, LONGEST_ANSWER } from './contenders.js';
import { isQuiet } from './database.js';
import { type Effort, median, quantile } from './measure.js';
import type { MixLoad, MixLoadResult } from './mix-load.js';
import { startServer, Worker } from './processes.js';
import type { StorefrontRequests } from './storefront.js';

/** The names of the mix, by whether a writer is beside it. */
export const MIX = 'mix';
export const MIX_WITH_WRITER = 'mix, writer';

/** What a contender answers of all that a storefront asks for: the medians over the rounds. */
export interface MixMeasurement {
  readonly scenario: string;
  readonly contender: string;
  readonly connections: number;
  /** Of all rounds. */
  readonly requests: number;
  /** Those of them that took too long, and count as 30 seconds. */
  readonly timedOut: number;
  /** Those of them for a page that was asked for before. */
  readonly repeated: number;
  /** Answered in time. */
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Requests that are drawn for each second of a slice. One who answers more has a shorter slice. */
const REQUESTS_PER_SECOND = 1000;

/** Measures contenders in turn. In each round all of them are sent the same requests. */
export async function measureMix(
  scenario: typeof MIX | typeof MIX_WITH_WRITER,
  contenders: readonly Contender[],
  requests: StorefrontRequests,
  { url: databaseUrl, rows }: { url: string; rows: number },
  { seconds, rounds, connections }: Effort,
): Promise<MixMeasurement[]> {
  const load = new Worker<MixLoad, MixLoadResult>('mix-load.js');
  const watching = new pg.Client(databaseUrl);
  await watching.connect();
  const writer =
    scenario === MIX_WITH_WRITER
      ? await startServer(join(import.meta.dirname, 'writer.js'), [databaseUrl, String(rows)], {})
      : undefined;
  const measured = contenders.map((contender) => ({ contender, slices: [] as Round[] }));
  try {
    for (let round = 0; round < rounds; round += 1) {
      const drawn = requests.mix(Math.ceil(seconds * REQUESTS_PER_SECOND));
      let mostSent = 0;
      const first = round % measured.length;
      for (const { contender, slices } of [...measured.slice(first), ...measured.slice(0, first)]) {
        await isQuiet(watching);
        const { address } = contender.server;
        const paths = drawn.map(({ question }) => contender.path(question));
        const { headers } = contender;
        const slice = await load.run({ address, headers, paths, connections, seconds });
        const sent = drawn.slice(0, slice.times.length);
        mostSent = Math.max(mostSent, sent.length);
        slices.push({ ...slice, repeated: sent.filter(({ isRepeated }) => isRepeated).length });
      }
      requests.takeBack(drawn.slice(mostSent));
    }
    if (writer?.isRunning() === false) throw new Error('The writer ended before its time');
  } finally {
    await load.stop();
    await watching.end();
    await writer?.stop();
  }
  return measured.map(({ contender, slices }) => ({
    scenario,
    contender: contender.name,
    connections,
    requests: sum(slices.map(({ times }) => times.length)),
    timedOut: sum(slices.map(({ times }) => times.length - inTime(times))),
    repeated: sum(slices.map(({ repeated }) => repeated)),
    perSecond: median(slices.map(({ times, seconds: passed }) => inTime(times) / passed)),
    p50: median(slices.map(({ times }) => quantile(times, 0.5))),
    p99: median(slices.map(({ times }) => quantile(times, 0.99))),
  }));
}

interface Round extends MixLoadResult {
  readonly repeated: number;
}

function inTime(times: readonly number[]): number {
  return times.filter((time) => time < LONGEST_ANSWER).length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
