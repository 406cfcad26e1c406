import { join } from 'node:path';
import pg from 'pg';
import { ask, type Contender, mustAgree, pathOf } from './contenders.js';
import { isQuiet } from './database.js';
import { startServer, Worker } from './processes.js';
import { questionOf, type Scenario } from './scenarios.js';
import type { Slice, SliceResult } from './slice.js';

export interface Effort {
  /** Of a slice. */
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
}

/** The products that contenders are asked for. */
export interface Filled {
  readonly url: string;
  readonly rows: number;
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
  filled: Filled,
  effort: Effort,
): Promise<Measurement[]> {
  const scenarios = [...new Set(pairs.map(({ scenario }) => scenario))];
  if (scenarios.length === 0) return [];
  const of = (scenario: Scenario): Pair[] => pairs.filter((pair) => pair.scenario === scenario);
  for (const scenario of scenarios) {
    if (scenario.writing) continue;
    const contenders = of(scenario).map(({ contender }) => contender);
    await mustAgree(scenario.name, questionOf(scenario, filled.rows), contenders);
  }
  const isWriting = scenarios.some(({ writing }) => writing);
  const results = new Map<Pair, SliceResult[]>(pairs.map((pair) => [pair, []]));
  const worker = new Worker<Slice, SliceResult>('slice.js');
  await underLoad(worker, filled, isWriting, async (load) => {
    const slice = async (pair: Pair, seconds: number, longest: number): Promise<SliceResult> => {
      const asked = await sliceOf(pair, filled.rows);
      return load({ ...asked, seconds, longest, connections: effort.connections });
    };
    // V8 and the prepared statements are given a moment that does not count.
    const moment = Math.min(1, effort.seconds);
    for (const pair of pairs) await slice(pair, moment, moment);
    for (let round = 0; round < effort.rounds; round += 1) {
      for (const scenario of scenarios) {
        for (const pair of inTurn(of(scenario), round)) {
          const slices = results.get(pair) ?? [];
          // Who needed more time in the last round does so in this one.
          const { seconds } = slices.at(-1) ?? effort;
          slices.push(await slice(pair, seconds, Math.max(LONGEST, seconds)));
        }
      }
    }
  });
  return [...results].map(([{ scenario, contender }, slices]) => ({
    scenario: scenario.name,
    contender: contender.name,
    connections: effort.connections,
    perSecond: median(slices.map(({ perSecond }) => perSecond)),
    p50: median(slices.map(({ p50 }) => p50)),
    p99: median(slices.map(({ p99 }) => p99)),
  }));
}

/**
 * Does work with a load in a process of its own, which is given a task once the database is at rest, and with a writer
 * beside it or none.
 */
export async function underLoad<Task extends object, Result>(
  load: Worker<Task, Result>,
  { url, rows }: Filled,
  isWriting: boolean,
  work: (run: (task: Task) => Promise<Result>) => Promise<void>,
): Promise<void> {
  const watching = new pg.Client(url);
  await watching.connect();
  const writer = isWriting
    ? await startServer(join(import.meta.dirname, 'writer.js'), [url, String(rows)], {})
    : undefined;
  try {
    await work(async (task) => {
      await isQuiet(watching);
      return load.run(task);
    });
    if (writer?.isRunning() === false) throw new Error('The writer ended before its time');
  } finally {
    await load.stop();
    await watching.end();
    await writer?.stop();
  }
}

/** Some in their order, beginning with another one in each round. */
export function inTurn<Each>(all: readonly Each[], round: number): Each[] {
  const first = round % all.length;
  return [...all.slice(first), ...all.slice(0, first)];
}

async function sliceOf(
  { scenario, contender }: Pair,
  rows: number,
): Promise<Pick<Slice, 'url' | 'headers' | 'status'>> {
  const question = questionOf(scenario, rows);
  const url = contender.server.address + pathOf(question);
  const slice = { url, headers: contender.headers, status: 200 };
  if (!scenario.conditional) return slice;
  const answer = await ask(contender, question);
  if (!answer?.etag) throw new Error(`${contender.name} sends no ETag`);
  const { etag } = answer;
  return { ...slice, headers: { ...slice.headers, 'If-None-Match': etag }, status: 304 };
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value that a part of the values do not exceed. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length * part)] ?? NaN;
}
