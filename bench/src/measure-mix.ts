import { type Contender, LONGEST_ANSWER, pathOf } from './contenders.js';
import { type Effort, type Filled, inTurn, median, quantile, underLoad } from './measure.js';
import type { MixLoad, MixLoadResult } from './mix-load.js';
import { Worker } from './processes.js';
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
  filled: Filled,
  { seconds, rounds, connections }: Effort,
): Promise<MixMeasurement[]> {
  const measured = contenders.map((contender) => ({ contender, slices: [] as MixLoadResult[] }));
  const isWriting = scenario === MIX_WITH_WRITER;
  const worker = new Worker<MixLoad, MixLoadResult>('mix-load.js');
  await underLoad(worker, filled, isWriting, async (load) => {
    for (let round = 0; round < rounds; round += 1) {
      const drawn = requests.mix(Math.ceil(seconds * REQUESTS_PER_SECOND));
      const paths = drawn.map(pathOf);
      let mostSent = 0;
      for (const { contender, slices } of inTurn(measured, round)) {
        const { headers, server } = contender;
        const { address } = server;
        const slice = await load({ address, headers, paths, connections, seconds });
        mostSent = Math.max(mostSent, slice.times.length);
        slices.push(slice);
      }
      requests.takeBack(drawn.slice(mostSent));
    }
  });
  return measured.map(({ contender, slices }) => {
    const all = slices.flatMap(({ times }) => times);
    return {
      scenario,
      contender: contender.name,
      connections,
      requests: all.length,
      timedOut: all.length - inTime(all),
      perSecond: median(slices.map(({ times, seconds: passed }) => inTime(times) / passed)),
      p50: median(slices.map(({ times }) => median(times))),
      p99: median(slices.map(({ times }) => quantile(times, 0.99))),
    };
  });
}

function inTime(times: readonly number[]): number {
  return times.filter((time) => time < LONGEST_ANSWER).length;
}
