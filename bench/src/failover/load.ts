import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.js';
import type { Copy } from './copy.js';
import type { Fault } from './faults.js';
import type { Read, Readers } from './readers.js';
import type { Tokens } from './tokens.js';
import { STAYING, Writer, WRITTEN } from './writers.js';

/** What reads all the time. */
export interface Load {
  readonly readers: Readers;
  readonly tokens: Tokens;
  readonly copies: readonly Copy[];
}

/** What one fault did. */
export interface Outcome extends Read {
  /** Of the longest time in which one of the writers did not write. */
  readonly secondsWithoutWrites: number;
  /** Until all instances refused a deleted token, at most. */
  readonly secondsUntilRefused: number;
  readonly acknowledgedWritesLost: number;
  /** Of the writer whose connections stay with a server as those of the service do. */
  readonly stayingWritesLost: number;
  /** Objects that copies do not have as the primary has them, and how often copies had to begin again. */
  readonly copyDifferences: number;
  readonly copiesBegun: number;
}

/** What a fault costs while readers read and writers write. Then these rest, and what they wrote is looked for. */
export async function outcomeOf(
  fault: Fault,
  cluster: Cluster,
  { readers, tokens, copies }: Load,
): Promise<Outcome> {
  const writers = WRITTEN.map((resource) => new Writer(cluster, resource));
  const staying = new Writer(cluster.forwarded, STAYING);
  const begun = (): number => copies.reduce((sum, copy) => sum + copy.begun, 0);
  const taken = () => ({
    ...readers.take(),
    secondsWithoutWrites: Math.max(...writers.map(({ gaps }) => gaps.take())),
    secondsUntilRefused: tokens.take(),
  });
  const before = begun();
  let outcome: ReturnType<typeof taken>;
  try {
    await sleep(5000);
    taken();
    await fault(cluster, readers);
    await cluster.untilWhole();
    await sleep(2000);
    outcome = taken();
  } finally {
    for (const writer of [...writers, staying]) await writer.stop();
  }
  const primary = await cluster.connect();
  try {
    let acknowledgedWritesLost = 0;
    for (const writer of writers) acknowledgedWritesLost += await writer.lost(primary);
    let copyDifferences = 0;
    for (const copy of copies) copyDifferences += await copy.differences(primary);
    return {
      ...outcome,
      acknowledgedWritesLost,
      stayingWritesLost: await staying.lost(primary),
      copyDifferences,
      copiesBegun: begun() - before,
    };
  } finally {
    await primary.end();
  }
}
