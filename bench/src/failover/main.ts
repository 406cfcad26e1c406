import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { query } from '../database.js';
import { machine } from '../machine.js';
import { PROJECT, stopAll } from '../processes.js';
import { Cluster } from './cluster.js';
import { FAULTS } from './faults.js';
import { Load, type Outcome } from './load.js';
import { restore } from './restore.js';

interface Options {
  rounds: number;
  mode: ('synchronous' | 'asynchronous')[];
  fault: string[];
  restores: number;
  out: string;
}

/** What one round of a fault did. */
export interface Round extends Outcome {
  readonly mode: string;
  readonly fault: string;
  readonly round: number;
}

const options = new Command('failover')
  .description('What faults of the cluster in deploy/cluster cost clients')
  .option('--rounds <n>', 'of each fault', Number, 3)
  .addOption(
    new Option('--mode <name...>', 'how commits are replicated')
      .choices(['synchronous', 'asynchronous'])
      .default(['synchronous', 'asynchronous']),
  )
  .addOption(
    new Option('--fault <name...>', 'only these')
      .choices(Object.keys(FAULTS))
      .default(Object.keys(FAULTS)),
  )
  .option('--restores <n>', 'of a backup, after the faults', Number, 2)
  .option('--out <file>', 'where to write the outcomes', 'bench/results/failover.json')
  .parse()
  .opts<Options>();

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void stopAll().finally(() => process.exit(1));
  });
}
const outcomes: Round[] = [];
/** That of PostgreSQL. */
let version = '';
for (const mode of options.mode) await runMode(mode);

async function runMode(mode: Options['mode'][number]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'catalogue-cluster-'));
  const cluster = await Cluster.start(folder, mode === 'synchronous');
  try {
    const [server] = await query<{ server_version: string }>(
      await cluster.url(),
      'SHOW server_version',
    );
    version = server?.server_version ?? '';
    const load = await Load.start(cluster);
    try {
      await load.outcome(async () => sleep(10_000));
      for (let round = 1; round <= options.rounds; round += 1) {
        for (const name of options.fault) {
          const fault = FAULTS[name] ?? (() => Promise.resolve());
          await report({ mode, fault: name, round, ...(await load.outcome(fault)) });
        }
      }
      for (let round = 1; round <= options.restores; round += 1) {
        const name = 'A backup is restored';
        await report({ mode, fault: name, round, ...(await load.outcome(restore)) });
      }
    } finally {
      await load.stop();
    }
  } finally {
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes the outcomes so far. */
async function report(outcome: Round): Promise<void> {
  outcomes.push(outcome);
  console.log(JSON.stringify(outcome));
  const file = join(PROJECT, options.out);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(
    file,
    `${JSON.stringify({ machine: machine(version), rounds: outcomes }, undefined, 2)}\n`,
  );
}
