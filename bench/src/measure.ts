import { join } from 'node:path';
import pg from 'pg';
import { mustAgree } from './agreement.js';
import { ask, type Contender } from './contenders.js';
import { isQuiet } from './database.js';
import { startServer, Worker } from './processes.js';
import type { Scenario } from './scenarios.js';
import type { Slice, SliceResult } from './slice.js';

export interface Effort {
  /** Of a slice. */
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
}

/** The medians over the rounds. */
export interface Measurement extends Omit<SliceResult, 'seconds'> {
  readonly scenario: string;
  readonly contender: string;
  readonly connections: number;
}

/** Seconds beyond which an answer is not waited for. */
const LONGEST = 10;

/** A contender to be measured in a scenario. */
export interface Pair {
  readonly scenario: Scenario;
  readonly contender: Contender;
}

/**
 * Measures pairs in turn, all of them with a writer beside them or none. A round goes through all
 * the scenarios, so that what changes over time, such as a process getting warm, does not pass for
 * a difference between two of them; each begins every scenario with another contender.
 */
export async function measure(
  pairs: readonly Pair[],
  { url: databaseUrl, rows }: { url: string; rows: number },
  effort: Effort,
): Promise<Measurement[]> {
  const scenarios = [...new Set(pairs.map(({ scenario }) => scenario))];
  if (scenarios.length === 0) return [];
  const of = (scenario: Scenario): Pair[] => pairs.filter((pair) => pair.scenario === scenario);
  for (const scenario of scenarios) {
    if (scenario.writing) continue;
    const contenders = of(scenario).map(({ contender }) => contender);
    await mustAgree(scenario.name, scenario.question, contenders);
  }
  const load = new Worker<Slice, SliceResult>('slice.js');
  const watching = new pg.Client(databaseUrl);
  await watching.connect();
  const writer = scenarios.some(({ writing }) => writing)
    ? await startServer(join(import.meta.dirname, 'writer.js'), [databaseUrl, String(rows)], {})
    : undefined;
  const results = new Map<Pair, SliceResult[]>(pairs.map((pair) => [pair, []]));
  const slice = async (
    { scenario, contender }: Pair,
    duration: { seconds: number; longest: number },
  ): Promise<SliceResult> => {
    const asked = await sliceOf(scenario, contender);
    await isQuiet(watching);
    return load.run({ ...asked, ...duration, connections: effort.connections });
  };
  try {
    // V8 and the prepared statements are given a moment that does not count.
    const moment = Math.min(1, effort.seconds);
    for (const pair of pairs) await slice(pair, { seconds: moment, longest: moment });
    for (let round = 0; round < effort.rounds; round += 1) {
      for (const scenario of scenarios) {
        const turns = of(scenario);
        const first = round % turns.length;
        for (const pair of [...turns.slice(first), ...turns.slice(0, first)]) {
          const slices = results.get(pair) ?? [];
          // Who needed more time in the last round does so in this one.
          const { seconds } = slices.at(-1) ?? effort;
          slices.push(await slice(pair, { seconds, longest: Math.max(LONGEST, seconds) }));
        }
      }
    }
    if (writer?.isRunning() === false) throw new Error('The writer ended before its time');
  } finally {
    await load.stop();
    await watching.end();
    await writer?.stop();
  }
  return [...results].map(([{ scenario, contender }, slices]) => ({
    scenario: scenario.name,
    contender: contender.name,
    connections: effort.connections,
    perSecond: median(slices.map(({ perSecond }) => perSecond)),
    p50: median(slices.map(({ p50 }) => p50)),
    p99: median(slices.map(({ p99 }) => p99)),
  }));
}

async function sliceOf(
  { question, conditional }: Scenario,
  contender: Contender,
): Promise<Pick<Slice, 'url' | 'headers' | 'status'>> {
  const url = contender.server.address + contender.path(question);
  const slice = { url, headers: contender.headers, status: 200 };
  if (!conditional) return slice;
  const answer = await ask(contender, question);
  if (!answer?.etag) throw new Error(`${contender.name} sends no ETag`);
  const { etag } = answer;
  return { ...slice, headers: { ...slice.headers, 'If-None-Match': etag }, status: 304 };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(middle)] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}

/** The value that a part of the values do not exceed. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length * part)] ?? NaN;
}
