import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { credentials } from '../contenders.js';
import { serverVersion } from '../database.js';
import { machine } from '../machine.js';
import { PROJECT, stopAll } from '../processes.js';
import { Cluster } from './cluster.js';
import { FAULTS } from './faults.js';
import { type Outcome, outcomeOf } from './load.js';
import { Readers } from './readers.js';

/** What one round of a fault did. */
interface Round extends Outcome {
  readonly mode: string;
  readonly fault: string;
  readonly round: number;
}

const MODES = ['synchronous', 'asynchronous'];
const options = new Command('failover')
  .description('What faults of the cluster in deploy/cluster cost clients')
  .option('--rounds <n>', 'of each fault', Number, 3)
  .addOption(new Option('--mode <name...>', 'of replication').choices(MODES).default(MODES))
  .parse()
  .opts<{ rounds: number; mode: string[] }>();

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void stopAll().finally(() => process.exit(1));
  });
}
const rounds: Round[] = [];
for (const mode of options.mode) await runMode(mode);

async function runMode(mode: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'catalogue-cluster-'));
  const cluster = await Cluster.start(folder, mode === 'synchronous');
  try {
    const url = await cluster.url();
    const version = await serverVersion(url);
    const readers = new Readers(cluster.address, await credentials(url));
    try {
      await outcomeOf(async () => sleep(10_000), cluster, readers);
      for (let round = 1; round <= options.rounds; round += 1) {
        for (const [fault, happen] of Object.entries(FAULTS)) {
          rounds.push({ mode, fault, round, ...(await outcomeOf(happen, cluster, readers)) });
          await save(version);
        }
      }
    } finally {
      await readers.stop();
    }
  } finally {
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Prints the last outcome, and writes all so far. */
async function save(version: string): Promise<void> {
  console.log(JSON.stringify(rounds.at(-1)));
  const folder = join(PROJECT, 'bench', 'results');
  await mkdir(folder, { recursive: true });
  const text = JSON.stringify({ machine: machine(version), rounds }, undefined, 2);
  await writeFile(join(folder, 'failover.json'), `${text}\n`);
}
