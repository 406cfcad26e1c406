import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { credentials } from '../contenders.js';
import { serverVersion } from '../database.js';
import { machine } from '../machine.js';
import { PROJECT, stopAll } from '../processes.js';
import { Cluster } from './cluster.js';
import { Copy } from './copy.js';
import { FAULTS } from './faults.js';
import { type Load, type Outcome, outcomeOf } from './load.js';
import { Readers } from './readers.js';
import { Tokens } from './tokens.js';
import { STAYING, WRITTEN } from './writers.js';

/** What one round of a fault did. */
interface Round extends Outcome {
  readonly mode: string;
  readonly fault: string;
  readonly round: number;
}

const MODES = ['synchronous', 'asynchronous'];
const NAMES = Object.keys(FAULTS);
const options = new Command('failover')
  .description('What faults of the cluster in deploy/cluster cost clients')
  .option('--rounds <n>', 'of each fault', Number, 3)
  .addOption(new Option('--mode <name...>', 'of replication').choices(MODES).default(MODES))
  .addOption(
    new Option('--fault <name...>', 'only these; the results keep the rounds of the others')
      .choices(NAMES)
      .default(NAMES, 'all'),
  )
  .parse()
  .opts<{ rounds: number; mode: string[]; fault: string[] }>();
const RESULTS = join(PROJECT, 'bench', 'results', 'failover.json');

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void stopAll().finally(() => process.exit(1));
  });
}
const rounds = await formerRounds();
for (const mode of options.mode) await runMode(mode);

async function runMode(mode: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'catalogue-cluster-'));
  const cluster = await Cluster.start(folder, mode === 'synchronous');
  try {
    const url = await cluster.url();
    const version = await serverVersion(url);
    const load = await loadOn(cluster, url);
    try {
      await outcomeOf(async () => sleep(10_000), cluster, load);
      for (let round = 1; round <= options.rounds; round += 1) {
        for (const [fault, happen] of Object.entries(FAULTS)) {
          if (!options.fault.includes(fault)) continue;
          rounds.push({ mode, fault, round, ...(await outcomeOf(happen, cluster, load)) });
          await save(version);
        }
      }
    } finally {
      for (const each of [load.readers, load.tokens, ...load.copies]) await each.stop();
    }
  } finally {
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function loadOn(cluster: Cluster, url: string): Promise<Load> {
  const headers = await credentials(url);
  const clientID = headers['X-Client-ID'] ?? '';
  return {
    readers: new Readers(cluster, headers, await credentials(url)),
    tokens: new Tokens(cluster, clientID),
    copies: [...WRITTEN, STAYING].map((resource) => new Copy(cluster.address, headers, resource)),
  };
}

/** The rounds of the results so far that this run does not replace. */
async function formerRounds(): Promise<Round[]> {
  const text = await readFile(RESULTS, 'utf8').catch(() => '{"rounds":[]}');
  const former = JSON.parse(text) as { rounds: Round[] };
  return former.rounds.filter(
    ({ mode, fault }) => !options.mode.includes(mode) || !options.fault.includes(fault),
  );
}

/** Prints the last outcome, and writes all so far. */
async function save(version: string): Promise<void> {
  console.log(JSON.stringify(rounds.at(-1)));
  await mkdir(join(RESULTS, '..'), { recursive: true });
  const text = JSON.stringify({ machine: machine(version), rounds }, undefined, 2);
  await writeFile(RESULTS, `${text}\n`);
}
