import { join } from 'node:path';
import { ask, type Contender } from './contenders.js';
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
export interface Measurement extends SliceResult {
  readonly scenario: string;
  readonly contender: string;
  readonly connections: number;
}

/** Every contender in one scenario, in turn, each round beginning with another. */
export async function measure(
  scenario: Scenario,
  contenders: readonly Contender[],
  databaseUrl: string,
  effort: Effort,
): Promise<Measurement[]> {
  await mustAgree(scenario, contenders);
  const load = new Worker<Slice, SliceResult>('slice.js');
  const writer = scenario.writing
    ? await startServer(join(import.meta.dirname, 'writer.js'), [databaseUrl], {})
    : undefined;
  const results = new Map<Contender, SliceResult[]>(contenders.map((each) => [each, []]));
  try {
    // V8 and the prepared statements are given a moment that does not count.
    const warming = { ...effort, seconds: Math.min(1, effort.seconds) };
    for (const contender of contenders) await load.run(await sliceOf(scenario, contender, warming));
    for (let round = 0; round < effort.rounds; round += 1) {
      for (let turn = 0; turn < contenders.length; turn += 1) {
        const contender = contenders[(round + turn) % contenders.length];
        if (!contender) continue;
        const slice = await sliceOf(scenario, contender, effort);
        results.get(contender)?.push(await load.run(slice));
      }
    }
    if (writer?.isRunning() === false) throw new Error('The writer ended before its time');
  } finally {
    await load.stop();
    await writer?.stop();
  }
  return [...results].map(([contender, slices]) => ({
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
  { seconds, connections }: Effort,
): Promise<Slice> {
  const url = contender.server.address + contender.path(question);
  const slice = { url, headers: contender.headers, connections, seconds, status: 200 };
  if (!conditional) return slice;
  const { etag } = await ask(contender, question);
  if (etag === null) throw new Error(`${contender.name} sends no ETag`);
  return { ...slice, headers: { ...slice.headers, 'If-None-Match': etag }, status: 304 };
}

/** Whoever answers otherwise than the first is not comparable. */
async function mustAgree(
  { name, question, writing }: Scenario,
  contenders: readonly Contender[],
): Promise<void> {
  if (writing) return;
  const [first, ...others] = contenders;
  if (!first) return;
  const expected = await ask(first, question);
  for (const contender of others) {
    const answer = await ask(contender, question);
    const agrees =
      answer.identifiers.join() === expected.identifiers.join() &&
      (!contender.counts || answer.count === expected.count);
    if (!agrees) throw new Error(`${contender.name} answers otherwise: ${name}`);
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(middle)] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}
