import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type Contender, isOwn, startContenders, withService } from './contenders.js';
import { comparedToMeasured } from './comparison.js';
import { cdn } from './cdn.js';
import { databaseServer, query, serverVersion, tallyIsCut } from './database.js';
import { disk } from './disk.js';
import { filledDatabase } from './fill.js';
import { firstMinute } from './first-minute.js';
import { growth } from './growth.js';
import { machine } from './machine.js';
import { type Filled, measure, type Measurement, type Pair } from './measure.js';
import { measureLists } from './measure-lists.js';
import { measureMix, MIX, MIX_WITH_WRITER } from './measure-mix.js';
import { moments } from './moments/moments.js';
import { overload } from './overload.js';
import { PROJECT, stopAll } from './processes.js';
import { asText, type Report, type Results } from './report.js';
import { SCENARIOS } from './scenarios.js';
import { STOREFRONT, StorefrontRequests } from './storefront.js';
import { waits } from './waits.js';

interface Options {
  rows?: number[];
  seconds: number;
  rounds: number;
  connections: number;
  scenario?: string[];
  mix?: true;
  overload: number;
  cdn?: number;
  moments?: number;
  seed: number;
  firstMinute?: true;
  disk?: true;
  growth?: true;
  waits?: true;
  database?: string;
  out: string;
}

const options = new Command('bench')
  .description('Compares the service with what one would write instead')
  .option('--rows <n,...>', 'products (10000,1000000)', numbers)
  .option('--seconds <s>', 'length of a slice', positive, 3)
  .option('--rounds <n>', 'slices of each contender, of which the median counts', whole, 5)
  .option('--connections <n>', 'requests under way at once', whole, 16)
  .addOption(
    new Option('--scenario <name...>', 'only these scenarios, lists and mixes').choices([
      ...[...SCENARIOS, ...STOREFRONT].map(({ name }) => name),
      MIX,
      MIX_WITH_WRITER,
    ]),
  )
  .option('--mix', 'only the lists of a storefront and their mix')
  .option('--overload <s>', 'only more requests than can be answered, this long each', positive, 0)
  .addOption(
    new Option('--cdn [s]', 'only 20,000 readers through nginx with deploy/cache.conf, so long')
      .preset('60')
      .argParser(positive),
  )
  .option(
    '--moments <s>',
    'only copies of all resources beside writers and faults, so long',
    positive,
  )
  .option('--seed <n>', 'of the writers and faults of --moments', whole, 1)
  .option('--first-minute', 'only the lists after an import into a running service')
  .option('--disk', 'only the size of tables and indexes, and what an update of a price writes')
  .option('--growth', 'only what grows with the products: import, memory, lists and disk')
  .option(
    '--waits',
    'only how soon those who wait for a change are told, and what their wait costs',
  )
  .option('--database <url>', 'a server on which to create databases; else an embedded one')
  .option('--out <folder>', 'where to put results.json', 'bench/results')
  .parse()
  .opts<Options>();
const { seconds, rounds, connections } = options;
const effort = { seconds, rounds, connections };

if (options.moments !== undefined) {
  await runMoments(options.moments);
  process.exit();
}
const server = await databaseServer(options.database);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    // The writer before the database: it takes back what it did.
    void stopAll()
      .then(() => server.release())
      .finally(() => process.exit(1));
  });
}
try {
  const results: Results[] = [];
  const on = machine(await serverVersion(server.url));
  for (const rows of options.rows ?? [10_000, 1_000_000]) {
    results.push({ rows, ...(await runOf(rows)) });
    await save({ machine: on, effort, results });
    const last = results.at(-1);
    if (last?.lists) for (const line of await comparedToMeasured(last)) console.log(line);
  }
} finally {
  await server.release();
}

/** On servers of its own, since it kills them. Writes the history of the run beside its results. */
async function runMoments(length: number): Promise<void> {
  const { found, history } = await moments(length, options.seed);
  await save({
    machine: machine(found.postgres),
    effort,
    results: [{ rows: found.objects, moments: found }],
  });
  const lines = history.map((operation) => `${JSON.stringify(operation)}\n`);
  await writeFile(join(resolve(PROJECT, options.out), 'history.jsonl'), lines.join(''));
}

async function runOf(rows: number): Promise<Omit<Results, 'rows'>> {
  if (options.firstMinute) return { firstMinute: await firstMinute(server.url, rows) };
  if (options.growth) return growth(server.url, rows, effort);
  const url = await filledDatabase(server.url, rows);
  if (options.cdn !== undefined) return { cdn: await cdn(url, rows, options.cdn) };
  if (options.overload > 0) {
    await query(url, 'VACUUM ANALYZE');
    return { overloaded: await overload(url, options.overload) };
  }
  if (options.waits) {
    await query(url, 'VACUUM ANALYZE');
    return { waits: await waits(url) };
  }
  if (options.disk) {
    await withService(url, () => tallyIsCut(url));
    await query(url, 'VACUUM ANALYZE');
    return { disk: await disk(url, rows) };
  }
  const contenders = await startContenders(url, options.mix === true);
  try {
    await tallyIsCut(url);
    await query(url, 'VACUUM ANALYZE');
    const filled = { url, rows };
    const scenarios = options.mix ? {} : await measureScenarios(contenders, filled);
    const storefront = await measureStorefront(contenders, filled);
    return { ...scenarios, ...storefront };
  } finally {
    for (const contender of contenders) await contender.server.stop();
  }
}

async function measureScenarios(
  contenders: readonly Contender[],
  filled: Filled,
): Promise<Pick<Results, 'measurements' | 'alone'>> {
  const own = contenders.filter(isOwn);
  const measurements: Measurement[] = [];
  const alone: Measurement[] = [];
  for (const writing of [undefined, true]) {
    console.error(writing ? 'With a writer' : 'Without a writer');
    const scenarios = SCENARIOS.filter((each) => isWanted(each) && each.writing === writing);
    const pairs = (compared: readonly Contender[]): Pair[] =>
      scenarios.flatMap((scenario) =>
        (scenario.conditional ? own : compared).map((contender) => ({ scenario, contender })),
      );
    measurements.push(...(await measure(pairs(contenders), filled, effort)));
    alone.push(...(await measure(pairs(own), filled, { ...effort, connections: 1 })));
  }
  return { measurements, alone };
}

function isWanted({ name }: { name: string }): boolean {
  return !options.scenario || options.scenario.includes(name);
}

async function measureStorefront(
  contenders: readonly Contender[],
  filled: Filled,
): Promise<Pick<Results, 'lists' | 'mixes'>> {
  const compared = contenders.filter(({ isBare }) => !isBare);
  const requests = new StorefrontRequests(filled.rows);
  const lists = STOREFRONT.filter(isWanted);
  if (lists.length > 0) console.error('Lists of a storefront');
  const measured = await measureLists(compared, lists, requests, filled, effort);
  const mixes = [];
  for (const name of [MIX, MIX_WITH_WRITER] as const) {
    if (!isWanted({ name })) continue;
    console.error(`Storefront: ${name}`);
    mixes.push(...(await measureMix(name, compared, requests, filled, effort)));
  }
  return { lists: measured, mixes };
}

/** Prints the last results, and writes all so far. */
async function save(report: Report): Promise<void> {
  console.log(asText(report.results.at(-1)));
  const folder = resolve(PROJECT, options.out);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'results.json'), `${JSON.stringify(report, undefined, 2)}\n`);
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('It must be a positive number.');
  return value;
}

function whole(text: string): number {
  const value = positive(text);
  if (!Number.isSafeInteger(value)) throw new InvalidArgumentError('It must be an integer.');
  return value;
}

function numbers(text: string, before: number[] = []): number[] {
  return [...before, ...text.split(',').map(whole)];
}
