import { setTimeout as sleep } from 'node:timers/promises';
import { restore } from '../failover/restore.js';
import type { Random } from '../random.js';
import type { KeptRunning } from './kept-running.js';
import type { Pair } from './pair.js';

/** What faults happen to. */
export interface Victims {
  readonly pair: Pair;
  readonly services: readonly KeptRunning[];
  readonly keepers: readonly KeptRunning[];
}

/** Happens beside writers and copies. Resolves when all is as before again, but for what it lost. */
export type Fault = (victims: Victims, random: Random) => Promise<void>;

export const FAULTS: Readonly<Record<string, Fault>> = {
  'the services are killed': ({ services }) => {
    for (const service of services) service.kill();
    return Promise.resolve();
  },
  'PostgreSQL is killed': ({ pair }) => pair.crash(),
  'the clock of PostgreSQL is set back': async ({ pair }, random) => {
    await pair.setClock(-20 - Math.floor(random() * 40));
    await sleep(6000 + random() * 6000);
    await pair.setClock(0);
  },
  'a replica is promoted': ({ pair }) => pair.failOver(),
  'a replica is promoted that lacks the last commits': async ({ pair }, random) => {
    await pair.hold();
    await sleep(500 + random() * 3000);
    await pair.failOver();
  },
  'a dump is restored': ({ pair }) => restore(pair),
  'the processes of the copies are killed': async ({ keepers }, random) => {
    for (let times = 0; times < 3; times += 1) {
      for (const keeper of keepers) keeper.kill();
      await sleep(1000 + random() * 3000);
    }
  },
};
