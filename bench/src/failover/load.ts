import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.js';
import type { Fault } from './faults.js';
import type { Readers } from './readers.js';
import { Writer, WRITTEN } from './writers.js';

/** What one fault did. */
export interface Outcome {
  /** Of the longest time in which one of the lists was not given, or one of the writers did not write. */
  readonly secondsWithoutReads: number;
  readonly secondsWithoutWrites: number;
  readonly requests: number;
  /** By errcode, or by the error of the connection. */
  readonly failures: Readonly<Record<string, number>>;
  readonly acknowledgedWritesLost: number;
  readonly wrongAnswers: readonly string[];
}

/** What a fault costs while readers read and writers write. Then these rest, and what they wrote is looked for. */
export async function outcomeOf(
  fault: Fault,
  cluster: Cluster,
  readers: Readers,
): Promise<Outcome> {
  const writers = WRITTEN.map((resource) => new Writer(cluster, resource));
  const secondsWithoutWrites = (): number => Math.max(...writers.map(({ gaps }) => gaps.take()));
  let outcome: Omit<Outcome, 'acknowledgedWritesLost'>;
  try {
    await sleep(5000);
    readers.take();
    secondsWithoutWrites();
    await fault(cluster);
    await cluster.untilWhole();
    await sleep(2000);
    outcome = { ...readers.take(), secondsWithoutWrites: secondsWithoutWrites() };
  } finally {
    for (const writer of writers) await writer.stop();
  }
  const primary = await cluster.connect();
  try {
    let acknowledgedWritesLost = 0;
    for (const writer of writers) acknowledgedWritesLost += await writer.lost(primary);
    return { ...outcome, acknowledgedWritesLost };
  } finally {
    await primary.end();
  }
}
