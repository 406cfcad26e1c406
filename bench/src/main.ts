import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { chart } from './chart.js';
import {
  type Contender,
  CONTENDER_NAMES,
  SERVICE,
  startContenders,
  startAlone,
  STOREFRONT_NAMES,
  UNCACHED,
} from './contenders.js';
import { copies } from './copies/copies.js';
import { databaseServer, query, tallyIsCut } from './database.js';
import { disk } from './disk.js';
import { filledDatabase } from './fill.js';
import { firstMinute } from './first-minute.js';
import { growth } from './growth.js';
import { loading } from './loading.js';
import { described, machine } from './machine.js';
import { measure, type Pair } from './measure.js';
import { measureLists } from './measure-lists.js';
import { measureMix, MIX, MIX_WITH_WRITER } from './measure-mix.js';
import { overload } from './overload.js';
import { PROJECT, stopAll } from './processes.js';
import { ratios, type Report, type Results, tables } from './report.js';
import { SCENARIO_NAMES, scenariosOf } from './scenarios.js';
import { soak } from './soak.js';
import { STOREFRONT, StorefrontRequests } from './storefront.js';
import { updating } from './updating.js';
import { waiting } from './waiting.js';
import { walk } from './walk.js';

interface Options {
  rows?: number[];
  seconds: number;
  rounds: number;
  connections: number;
  scenario?: string[];
  contender?: string[];
  mix?: true;
  loading: boolean;
  soak: number;
  overload: number;
  copies?: number;
  waiting?: number;
  seed: number;
  firstMinute?: true;
  disk?: true;
  growth?: true;
  baseline?: string;
  database?: string;
  out: string;
}

/** Of what is measured by default. */
const NOTHING = { measurements: [], alone: [], lists: [], mixes: [] };

const options = new Command('bench')
  .description('Compares the service with what one would write instead')
  .option('--rows <n,...>', 'products (10000,1000000)', numbers)
  .option('--seconds <s>', 'length of a slice', positive, 3)
  .option('--rounds <n>', 'slices of each contender, of which the median counts', whole, 5)
  .option('--connections <n>', 'requests under way at once', whole, 16)
  .addOption(
    new Option('--scenario <name...>', 'only these scenarios, lists and mixes').choices([
      ...SCENARIO_NAMES,
      ...STOREFRONT.map(({ name }) => name),
      MIX,
      MIX_WITH_WRITER,
    ]),
  )
  .addOption(
    new Option('--contender <name...>', 'only these beside the service').choices(CONTENDER_NAMES),
  )
  .option('--mix', 'only the lists of a storefront and their mix')
  .option('--no-loading', 'leaves import against COPY, and updates, out')
  .option('--soak <s>', 'seconds of load, watching the memory of the service', positive, 0)
  .option('--overload <s>', 'only more requests than can be answered, this long each', positive, 0)
  .addOption(
    new Option('--copies [s]', 'only copies that are kept beside writers and faults, so long')
      .preset('300')
      .argParser(positive),
  )
  .addOption(
    new Option('--waiting [n]', 'only connections that wait for a change, so many')
      .preset('10000')
      .argParser(whole),
  )
  .option('--seed <n>', 'of the writers and faults of --copies', whole, 1)
  .option('--first-minute', 'only the lists after an import into a running service')
  .option('--disk', 'only the size of tables and indexes, and what an update of a price writes')
  .option('--growth', 'only what grows with the products: import, memory, lists and disk')
  .option('--baseline <folder>', 'a built version of the service to overload beside this one')
  .option('--database <url>', 'a server on which to create databases; else an embedded one')
  .option('--out <folder>', 'where to put results.json and chart.svg', 'bench/results')
  .parse()
  .opts<Options>();

if (options.copies !== undefined) {
  await runCopies(options.copies);
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
  const [{ server_version: version } = { server_version: '' }] = await query<{
    server_version: string;
  }>(server.url, 'SHOW server_version');
  const on = machine(version);
  console.log(described(on));
  const results: Results[] = [];
  for (const rows of options.rows ?? [10_000, 1_000_000]) {
    const found = await runOf(rows);
    results.push(found);
    console.log(
      `\n${rows.toLocaleString('en-US')} products\n\n${tables(found)}\n\n${ratios(found)}`,
    );
    const { seconds, rounds, connections } = options;
    await save({ machine: on, effort: { seconds, rounds, connections }, results });
  }
} finally {
  await server.release();
}

/** On servers of its own, since it kills them. */
async function runCopies(seconds: number): Promise<void> {
  const [rows = 20_000] = options.rows ?? [];
  const { rounds, connections, seed } = options;
  await copies(rows, seconds, seed, async (found) => {
    const results = { ...NOTHING, rows, copies: found };
    const effort = { seconds, rounds, connections };
    await save({ machine: machine(found.postgres), effort, results: [results] });
    console.log(`\n${tables(results)}`);
  });
}

async function runOf(rows: number): Promise<Results> {
  if (options.firstMinute) {
    return { ...NOTHING, rows, firstMinute: await firstMinute(server.url, rows) };
  }
  return options.growth
    ? { ...NOTHING, rows, ...(await growth(server.url, rows, options)) }
    : run(rows);
}

async function run(rows: number): Promise<Results> {
  const url = await filledDatabase(server.url, rows);
  if (options.waiting !== undefined) {
    console.log(await waiting(url, options.waiting));
    return { ...NOTHING, rows };
  }
  if (options.overload > 0) {
    await query(url, 'VACUUM ANALYZE');
    const overloaded = await overload(url, options.overload, options.baseline);
    return { ...NOTHING, rows, overloaded };
  }
  if (options.disk) {
    const service = await startAlone(url);
    await tallyIsCut(url).finally(() => service.server.stop());
    await query(url, 'VACUUM ANALYZE');
    const onDisk = await disk(url, rows);
    return { ...NOTHING, rows, disk: onDisk };
  }
  const contenders = await startContenders(
    url,
    options.contender ?? (options.mix ? STOREFRONT_NAMES : CONTENDER_NAMES),
  );
  try {
    await tallyIsCut(url);
    await query(url, 'VACUUM ANALYZE');
    const [service] = contenders;
    if (!service) throw new Error('There is no contender');
    const scenarios = options.mix ? [] : scenariosOf(rows).filter(isWanted);
    const own = contenders.filter(({ name }) => name === SERVICE || name === UNCACHED);
    const pairs = (compared: readonly Contender[], writing: boolean): Pair[] =>
      scenarios
        .filter((scenario) => scenario.writing === writing)
        .flatMap((scenario) =>
          (scenario.conditional ? own : compared).map((contender) => ({ scenario, contender })),
        );
    const measurements = [];
    const alone = [];
    for (const writing of [false, true]) {
      console.error(writing ? 'With a writer' : 'Without a writer');
      const [database, single] = [
        { url, rows },
        { ...options, connections: 1 },
      ];
      measurements.push(...(await measure(pairs(contenders, writing), database, options)));
      alone.push(...(await measure(pairs(own, writing), database, single)));
    }
    const storefront = await measureStorefront(contenders, { url, rows });
    const isWhole = !options.scenario && !options.mix;
    const walked = isWhole ? await walk(service, rows) : undefined;
    const questions = scenarios.map(({ question }) => question);
    const memory =
      options.soak > 0
        ? await soak(service, questions, options.soak, options.connections)
        : undefined;
    for (const contender of contenders.splice(0)) await contender.server.stop();
    const withLoading = isWhole && options.loading;
    return {
      rows,
      measurements,
      alone,
      ...storefront,
      walk: walked,
      loading: withLoading ? await loading(server.url, url) : undefined,
      updating: withLoading ? await updating(url, rows) : undefined,
      memory,
    };
  } finally {
    for (const contender of contenders) await contender.server.stop();
  }
}

function isWanted({ name }: { name: string }): boolean {
  return !options.scenario || options.scenario.includes(name);
}

async function measureStorefront(
  contenders: readonly Contender[],
  database: { url: string; rows: number },
): Promise<Pick<Results, 'lists' | 'mixes'>> {
  const compared = contenders.filter(({ isStorefront }) => isStorefront);
  const requests = new StorefrontRequests(database.rows);
  const lists = STOREFRONT.filter(isWanted);
  if (lists.length > 0) console.error('Lists of a storefront');
  const measured = await measureLists(compared, lists, requests, database, options);
  const mixes = [];
  for (const name of [MIX, MIX_WITH_WRITER] as const) {
    if (!isWanted({ name })) continue;
    console.error(`Storefront: ${name}`);
    mixes.push(...(await measureMix(name, compared, requests, database, options)));
  }
  return { lists: measured, mixes };
}

async function save(report: Report): Promise<void> {
  const folder = resolve(PROJECT, options.out);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'results.json'), `${JSON.stringify(report, undefined, 2)}\n`);
  const largest = report.results.at(-1);
  if (largest) await writeFile(join(folder, 'chart.svg'), chart(largest, report.machine));
  console.log(`\nWritten to ${folder}`);
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
