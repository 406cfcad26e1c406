import { setTimeout as sleep } from 'node:timers/promises';
import { catalogue } from '../processes.js';
import type { Cluster } from './cluster.js';
import { Copy } from './copy.js';
import type { Fault } from './faults.js';
import { Readers } from './readers.js';
import { BRANDS, Changer, PRODUCTS, Writer } from './writers.js';

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
  readonly copiesBegunAgain: number;
  readonly differencesOfCopy: number;
  readonly instancesKeptRunning: boolean;
}

/** Readers through the service and a copy, beside writers to the primary. */
export class Load {
  private constructor(
    private readonly cluster: Cluster,
    private readonly readers: Readers,
    private readonly copy: Copy,
  ) {}

  static async start(cluster: Cluster): Promise<Load> {
    const url = await cluster.url();
    const credentials = async (client: string): Promise<string> => {
      await catalogue(['client', 'create', client], url);
      return (await catalogue(['token', 'issue', client], url)).stdout.trim();
    };
    const token = await credentials('reader');
    const readers = new Readers(cluster.address, {
      'X-Client-ID': 'reader',
      Authorization: `Bearer ${token}`,
    });
    const copy = await Copy.of(cluster.address, 'copy', await credentials('copy'));
    return new Load(cluster, readers, copy);
  }

  /** What a fault costs while all of it runs. Then the writers rest, and everything is compared. */
  async outcome(fault: Fault): Promise<Outcome> {
    const { cluster, copy, readers } = this;
    const writers = [BRANDS, PRODUCTS].map((resource) => new Writer(cluster, resource));
    const changer = new Changer(cluster);
    await sleep(5000);
    readers.take();
    copy.takeBegun();
    for (const { gaps } of writers) gaps.take();
    let reads: ReturnType<Readers['take']>;
    let secondsWithoutWrites: number;
    try {
      await fault(cluster);
      await cluster.untilWhole();
      await sleep(2000);
      reads = readers.take();
      secondsWithoutWrites = Math.max(...writers.map(({ gaps }) => gaps.take()));
    } finally {
      for (const part of [...writers, changer]) await part.stop();
    }
    const primary = await cluster.connect();
    try {
      let lost = 0;
      for (const writer of writers) lost += await writer.lost(primary);
      return {
        secondsWithoutReads: reads.seconds,
        secondsWithoutWrites,
        requests: reads.requests,
        failures: reads.failures,
        acknowledgedWritesLost: lost,
        wrongAnswers: reads.wrong,
        differencesOfCopy: await copy.differences(primary),
        copiesBegunAgain: copy.takeBegun(),
        instancesKeptRunning: await cluster.instancesRun(),
      };
    } finally {
      await primary.end();
    }
  }

  async stop(): Promise<void> {
    await this.readers.stop();
    await this.copy.stop();
  }
}
