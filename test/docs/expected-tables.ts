import { readFile } from 'node:fs/promises';
import { errors } from '../../src/http/errors.js';
import * as list from '../../src/list/index.js';
import { FILTER_FORMS } from '../../src/resource/filter-forms.js';
import { Settings } from '../../src/settings/settings.js';
import type { Service } from '../service.js';
import type { Row } from './markdown.js';

/** A table that the documents must have. */
export interface ExpectedTable {
  readonly rows: readonly Row[];
  /** Whether the last column is written by hand, and only must not be empty. */
  readonly hasOwnMeanings?: true;
}

/** The project's own resources. Others may have been added. */
const RESOURCES = ['products', 'categories', 'brands', 'variants'];

/** The parameters of every list, which have a table of their own. */
const COMMON = ['fields', 'limit', 'offset', 'after', 'sort', 'updatedSince', 'updatedUntil'];

/** By document, every table that is derived from the code, by name. */
export async function expectedTables(
  service: Service,
): Promise<Record<string, Record<string, ExpectedTable>>> {
  const { body } = await service.anonymous().get('/openapi.json').expect(200);
  const runs = await Promise.all(
    RUNS.map(async ({ file }) => JSON.parse(await readFile(`bench/measured/${file}`, 'utf8'))),
  );
  const [measured, overloaded, first, stored, grown] = runs;
  const failover = JSON.parse(await readFile('bench/measured/failover.json', 'utf8'));
  const kept = JSON.parse(await readFile(`bench/measured/${COPIES}`, 'utf8'));
  return {
    'docs/api.md': {
      ...Object.fromEntries(
        RESOURCES.flatMap((resource) => [
          [`fields of ${resource}`, { rows: fieldRows(body, resource) }],
          [`filters of ${resource}`, { rows: filterRows(body, resource) }],
        ]),
      ),
      'parameters of every list': { rows: commonRows(body) },
      sorts: { rows: sortRows(body) },
      headers: { rows: headerRows(body) },
      errors: { rows: errorRows(), hasOwnMeanings: true },
    },
    'docs/operations.md': {
      settings: { rows: settingRows(), hasOwnMeanings: true },
    },
    'docs/resources.md': {
      'parameter decorators': { rows: decoratorRows(), hasOwnMeanings: true },
      'forms of filters': { rows: formRows() },
    },
    'docs/performance.md': {
      runs: { rows: runRows(runs) },
      throughput: { rows: throughputRows(measured) },
      latency: { rows: latencyRows(measured) },
      ratios: { rows: ratioRows(measured) },
      overload: { rows: overloadRows(overloaded) },
      lists: { rows: listRows(measured) },
      mix: { rows: mixRows(measured) },
      'first minute': { rows: firstMinuteRows(first) },
      disk: { rows: diskRows(stored) },
      updates: { rows: updateRows(stored) },
      growth: { rows: growthRows(grown) },
    },
    'docs/copies.md': {
      run: { rows: copiesRunRows(kept) },
      copies: { rows: copyRows(kept) },
      faults: { rows: copyFaultRows(kept), hasOwnMeanings: true },
    },
    'deploy/cluster/README.md': {
      faults: { rows: faultRows(failover) },
    },
  };
}

// The document is JSON, whose shape its own test asserts.
/* eslint-disable @typescript-eslint/no-explicit-any */

/** The schema of a reference. */
function named(document: any, { $ref }: { $ref: string }): any {
  return document.components.schemas[$ref.split('/').at(-1) ?? ''];
}

function fieldRows(document: any, resource: string): Row[] {
  const { content } = document.paths[`/${resource}`].get.responses[200];
  const page = named(document, content['application/json'].schema);
  const { properties } = named(document, page.properties.response_data.properties.objects.items);
  const rows = Object.entries<any>(properties).map(([name, { type, description, ...rest }]) => {
    if (rest.oneOf) return [`\`${name}\``, 'related object', 'yes', description];
    if (rest.items?.$ref) return [`\`${name}\``, 'related objects', 'no', description];
    const types = [type].flat();
    const value = valueOf({ ...rest, type: types.find((each) => each !== 'null') });
    return [`\`${name}\``, value, types.includes('null') ? 'yes' : 'no', description];
  });
  return [['field', 'value', 'may be null', 'meaning'], ...rows];
}

function queryOf(document: any, resource: string): any[] {
  const { parameters } = document.paths[`/${resource}`].get;
  return parameters.filter((parameter: any) => parameter.in === 'query');
}

function filterRows(document: any, resource: string): Row[] {
  const filters = queryOf(document, resource).filter(
    ({ name }) => !COMMON.includes(name) && name !== 'include',
  );
  const rows = filters.map(({ name, schema, description }) => [
    `\`${name}\``,
    valueOf(schema),
    description,
  ]);
  return [['filter', 'value', 'keeps'], ...rows];
}

/** Those of every list, whose names of fields differ. */
function commonRows(document: any): Row[] {
  const [rows = [], ...others] = RESOURCES.map((resource) =>
    queryOf(document, resource)
      .filter(({ name }) => COMMON.includes(name))
      .sort((one, other) => COMMON.indexOf(one.name) - COMMON.indexOf(other.name))
      .map(({ name, schema, description }) => {
        const isOfNames = schema.type === 'array';
        const value = isOfNames ? 'names, separated by commas' : valueOf(schema);
        const [text, ordered] = description.split(' Default: ');
        const byDefault = isOfNames
          ? ordered === 'all.'
            ? 'all'
            : 'the identifier'
          : schema.default;
        const meaning = text.replaceAll(resource, 'objects');
        return [`\`${name}\``, value, String(byDefault ?? 'none'), meaning];
      }),
  );
  for (const other of others) {
    if (JSON.stringify(other) !== JSON.stringify(rows)) throw new Error('They differ by resource');
  }
  return [['parameter', 'value', 'default', 'meaning'], ...rows];
}

function sortRows(document: any): Row[] {
  const rows = RESOURCES.map((resource) => [
    `\`${resource}\``,
    ...['sort', 'include'].map((parameter) => {
      const found = queryOf(document, resource).find(({ name }) => name === parameter);
      const names: string[] = found?.schema.items.enum ?? [];
      const ascending = names.filter((name) => !name.startsWith('-'));
      return ascending.map((name) => `\`${name}\``).join(', ') || 'does not exist';
    }),
  ]);
  return [['resource', '`sort` may name', '`include` may name'], ...rows];
}

function headerRows(document: any): Row[] {
  const rows = Object.entries<any>(document.components.headers).map(([name, { description }]) => [
    `\`${name}\``,
    description,
  ]);
  return [['header', 'meaning'], ...rows];
}

/** What JSON Schema says of a value, in words. */
function valueOf(schema: any): string {
  const { type, format, items, minimum, maximum, minLength, maxLength } = schema;
  const values = schema.enum?.filter((value: unknown) => value !== null);
  const named = values?.map((value: string) => `\`${value}\``).join(', ');
  if (type === 'array') return `one or more: ${valueOf(items)}`;
  if (named) return named;
  if (type === 'boolean') return '`true`, `false`';
  if (type === 'integer') {
    return minimum < 0 ? 'integer of 32 bits' : `integer, ${minimum} to ${maximum}`;
  }
  if (format === 'decimal') return 'decimal';
  if (format === 'date-time') return 'time';
  if (format === 'int64') return 'integer of 64 bits';
  if (format === 'uuid') return 'UUID';
  if (format === 'date') return 'date';
  if (type === 'number') return 'number';
  if (type === undefined) return 'JSON';
  if (maxLength === undefined) return 'text';
  if (minLength === maxLength) return `text, ${maxLength} characters`;
  const length = minLength > 0 ? `${minLength} to ${maxLength}` : `at most ${maxLength}`;
  return `text, ${length} characters`;
}

/* eslint-enable @typescript-eslint/no-explicit-any */

function errorRows(): Row[] {
  const rows = Object.values(errors).map(({ errcode, statuses, condition, message }) => [
    `\`${errcode}\``,
    statuses.join(', '),
    condition,
    `\`${message}\``,
    '',
  ]);
  return [['errcode', 'HTTP', 'condition', 'msg', 'retry'], ...rows];
}

function decoratorRows(): Row[] {
  const names = Object.keys(list).filter((name) => /Params?$/.test(name));
  // That of several values stands beside that of one.
  const several = (name: string): string => name.replace('Param', 'sParam');
  const rows = names
    .filter((name) => !names.some((each) => several(each) === name))
    .sort()
    .map((name) => [name, several(name)].filter((each) => names.includes(each)));
  return [
    ['decorator', 'value'],
    ...rows.map((each) => [each.map((name) => `\`${name}\``).join(', '), '']),
  ];
}

function formRows(): Row[] {
  const rows = Object.entries(FILTER_FORMS).map(([end, { type, keeps }]) => [
    end === '' ? 'none' : `\`…${end}\``,
    type,
    keeps,
  ]);
  return [['end', 'property', 'keeps the objects'], ...rows];
}

const OWN_DATABASE = { DATABASE_URL: 'postgres://db/catalogue' };

/** The property that each variable sets, and what its value is multiplied by. */
const PROPERTIES: Readonly<Record<string, readonly [Exclude<keyof Settings, 'with'>, number?]>> = {
  PORT: ['port'],
  ADMIN_PORT: ['adminPort'],
  HOST: ['host'],
  DATABASE_URL: ['databaseUrl'],
  DATABASE_REPLICA_URLS: ['replicaUrls'],
  MAX_REPLICA_LAG_MS: ['maxReplicaLag'],
  DATA_DIR: ['dataDir'],
  MAX_LIMIT: ['maxLimit'],
  QUERY_TIMEOUT_MS: ['queryTimeout'],
  PAGE_CACHE_MB: ['pageCache', 1024 * 1024],
  POOL_SIZE: ['poolSize'],
  RATE_LIMIT_PER_MINUTE: ['rateLimit'],
  FAILED_LOGINS_PER_MINUTE: ['failedLogins'],
  MAX_REQUESTS_PER_CLIENT: ['maxRequestsPerClient'],
  MAX_STREAMS_PER_CLIENT: ['maxStreamsPerClient'],
  STREAM_TIMEOUT_MS: ['streamTimeout'],
  SEARCH_LANGUAGE: ['searchLanguage'],
  REDIS_URL: ['redisUrl'],
  DRAIN_MS: ['drain'],
  LOG_LEVEL: ['logLevel'],
  SLOW_LIST_MS: ['slowList'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['otlpEndpoint'],
  CORS_ORIGINS: ['corsOrigins'],
  TRUST_PROXY: ['trustProxy'],
};

/**
 * The variables that the settings read, in the order of `PROPERTIES`; an unknown one comes last. Those of files with a
 * secret are left out: they stand in for others.
 */
export function variables(): string[] {
  const read = new Set<string>();
  new Settings(
    new Proxy<NodeJS.ProcessEnv>(
      {},
      {
        get: (_, name) => {
          if (!String(name).endsWith('_FILE')) read.add(String(name));
          return undefined;
        },
      },
    ),
  );
  const known = Object.keys(PROPERTIES);
  return [
    ...known.filter((name) => read.has(name)),
    ...[...read].filter((n) => !known.includes(n)),
  ];
}

function settingRows(): Row[] {
  const rows = variables().map((name) => [
    `\`${name}\``,
    defaultOf(name),
    valueOfSetting(name),
    '',
  ]);
  return [['variable', 'default', 'value', 'meaning'], ...rows];
}

function defaultOf(name: string): string {
  const [embedded, own] = [{}, OWN_DATABASE].map((environment) => shown(environment, name));
  if (name === 'DATABASE_URL' || embedded === own) return String(embedded);
  return `${own} with \`DATABASE_URL\`, else ${embedded}`;
}

function shown(environment: NodeJS.ProcessEnv, name: string): string {
  const [property, factor = 1] = PROPERTIES[name] ?? [];
  if (!property) throw new Error(`Which property is ${name}?`);
  const value = new Settings(environment)[property];
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'none';
  return typeof value === 'number' ? String(value / factor) : `\`${String(value)}\``;
}

/** What a variable must be, as the settings say when it is not. */
function valueOfSetting(name: string): string {
  try {
    new Settings({ ...OWN_DATABASE, [name]: '?' });
    return 'text';
  } catch (error) {
    return (error as Error).message.replace(`${name} must be `, '').replace(/^an? /, '');
  }
}

/** The runs of the benchmark: their file in `bench/measured`, their options, and the headings of their tables. */
const RUNS = [
  {
    file: 'results.json',
    options: '',
    headings: ['Throughput', 'Latency of one connection', 'Lists of a storefront'],
  },
  { file: 'overload.json', options: ' -- --overload 5', headings: ['Overload'] },
  {
    file: 'first-minute.json',
    options: ' -- --first-minute',
    headings: ['The first minute after an import'],
  },
  { file: 'disk.json', options: ' -- --disk', headings: ['Disk and writes'] },
  {
    file: 'growth.json',
    options: ' -- --growth --rows 100000,1000000,10000000',
    headings: ['A hundred million products'],
  },
];

/** What every run says of itself. */
interface Run {
  readonly machine: {
    readonly date: string;
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGiB: number;
    readonly node: string;
    readonly postgres: string;
  };
  readonly results: readonly { readonly rows: number }[];
}

function runRows(runs: readonly Run[]): Row[] {
  const rows = runs.map(({ machine, results }, at): Row => {
    const { file = '', options = '', headings = [] } = RUNS[at] ?? {};
    return [
      headings
        .map((heading) => `[${heading}](#${heading.toLowerCase().replaceAll(' ', '-')})`)
        .join(', '),
      `\`npm run bench${options}\``,
      `[${file}](../bench/measured/${file})`,
      machine.date,
      ...machineOf(machine),
      results.map(({ rows: products }) => grouped(products)).join(', '),
    ];
  });
  const header = ['tables', 'command', 'results', 'date', 'machine', 'Node.js, PostgreSQL'];
  return [[...header, 'products'], ...rows];
}

/** The machine, and the versions of Node.js and PostgreSQL. */
function machineOf(machine: Run['machine']): [string, string] {
  return [
    `${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB`,
    `${machine.node.slice(1)}, ${machine.postgres}`,
  ];
}

/** A run of the scenarios on one number of products. */
interface Measured {
  readonly results: readonly [
    {
      readonly measurements: readonly Measurement[];
      readonly alone: readonly Measurement[];
    },
  ];
}

/** The lists of a storefront in a run, by the number of products. */
interface Storefront {
  readonly results: readonly {
    readonly rows: number;
    readonly lists: readonly ListMeasurement[];
    readonly mixes: readonly MixMeasurement[];
  }[];
}

/** A run with more requests than can be answered. */
interface Overloaded {
  readonly results: readonly [
    {
      readonly overloaded: {
        readonly best: number;
        readonly loads: readonly {
          readonly contender: string;
          readonly connections: number;
          readonly times: number;
          readonly admitted: Load;
          readonly refused: Load;
          readonly health: Load;
          readonly unhealthy: number;
          readonly broken: number;
          readonly unanswered: number;
        }[];
      };
    },
  ];
}

interface Load {
  readonly perSecond: number;
  readonly p50: number | null;
  readonly p99: number | null;
}

interface Measurement extends Load {
  readonly scenario: string;
  readonly contender: string;
}

interface ListMeasurement {
  readonly list: string;
  readonly weight: number;
  readonly contender: string;
  readonly p50: number | null;
}

interface MixMeasurement extends Measurement {
  readonly requests: number;
  readonly timedOut: number;
}

/** A run that imports into a running service. */
interface Imported {
  readonly results: readonly [
    {
      readonly firstMinute: {
        readonly lists: readonly {
          readonly list: string;
          readonly first: { readonly p50: number };
          readonly steady: { readonly p50: number };
        }[];
      };
    },
  ];
}

function firstMinuteRows({ results: [{ firstMinute }] }: Imported): Row[] {
  const rows = firstMinute.lists.map(({ list, first, steady }) => [
    list,
    digits(first.p50),
    digits(steady.p50),
    digits(first.p50 / steady.p50),
  ]);
  return [['list', 'first minute, ms', 'at rest, ms', 'ratio'], ...rows];
}

const COPIES = 'copies.json';

/** A run of the benchmark with `--copies`. */
interface Kept extends Run {
  readonly results: readonly [
    {
      readonly rows: number;
      readonly copies: {
        readonly seconds: number;
        readonly comparisons: number;
        readonly faults: Readonly<Record<string, number>>;
        readonly written: {
          readonly transactions: number;
          readonly late: number;
          readonly longestOpen: number;
        };
        readonly copies: readonly {
          readonly name: string;
          readonly missed: number;
          readonly old: number;
          readonly leftOver: number;
          readonly differing: number;
          readonly begun: number;
          readonly requests: number;
          readonly bytes: number;
          readonly behind: { readonly median: number; readonly greatest: number };
        }[];
      };
    },
  ];
}

function copiesRunRows({ machine, results: [{ rows: products, copies }] }: Kept): Row[] {
  const { transactions, late, longestOpen } = copies.written;
  return [
    ['run', ''],
    ['results', `[${COPIES}](../bench/measured/${COPIES})`],
    ['date', machine.date],
    ['machine', machineOf(machine)[0]],
    ['Node.js, PostgreSQL', machineOf(machine)[1]],
    ['products', grouped(products)],
    ['minutes, comparisons', `${Math.round(copies.seconds / 60)}, ${copies.comparisons}`],
    ['transactions of writers', grouped(transactions)],
    ['of these open for a second or longer', `${grouped(late)}, at most ${digits(longestOpen)} s`],
  ];
}

function copyRows({ results: [{ copies }] }: Kept): Row[] {
  const rows = copies.copies.map((copy): Row => [
    `\`${copy.name}\``,
    ...[copy.missed, copy.old, copy.leftOver].map(grouped),
    `${copy.differing} of ${copies.comparisons}`,
    String(copy.begun),
    grouped(copy.requests),
    digits(copy.bytes / 1e6),
    `${digits(copy.behind.median)}, ${digits(copy.behind.greatest)}`,
  ]);
  const differences = ['missed', 'old', 'left over', 'comparisons', 'begun anew'];
  return [['copy', ...differences, 'requests', 'MB', 's behind: median, greatest'], ...rows];
}

function copyFaultRows({ results: [{ copies }] }: Kept): Row[] {
  const rows = Object.entries(copies.faults).sort(([one], [other]) => one.localeCompare(other));
  return [
    ['fault', 'times', 'what happens'],
    ...rows.map(([fault, times]) => [fault, String(times), '']),
  ];
}

/** Rounds of faults of the cluster. */
interface Failover {
  readonly rounds: readonly {
    readonly mode: string;
    readonly fault: string;
    readonly secondsWithoutReads: number;
    readonly secondsWithoutWrites: number;
    readonly requests: number;
    readonly failures: Readonly<Record<string, number>>;
    readonly acknowledgedWritesLost: number;
    readonly wrongAnswers: readonly string[];
  }[];
}

/** For each fault and mode, the worst round, or the sum of the rounds. */
function faultRows({ rounds }: Failover): Row[] {
  const names = [...new Set(rounds.map(({ fault, mode }) => `${fault}|${mode}`))].sort();
  const rows = names.map((name): Row => {
    const [fault = '', mode = ''] = name.split('|');
    const own = rounds.filter((round) => round.fault === fault && round.mode === mode);
    const sum = (value: (round: (typeof own)[number]) => number): number =>
      own.reduce((total, round) => total + value(round), 0);
    const failed = sum(({ failures }) => Object.values(failures).reduce((a, b) => a + b, 0));
    return [
      fault,
      mode,
      String(own.length),
      digits(Math.max(...own.map(({ secondsWithoutReads }) => secondsWithoutReads))),
      digits(Math.max(...own.map(({ secondsWithoutWrites }) => secondsWithoutWrites))),
      `${failed} of ${grouped(sum(({ requests }) => requests))}`,
      String(sum(({ acknowledgedWritesLost }) => acknowledgedWritesLost)),
      String(sum(({ wrongAnswers }) => wrongAnswers.length)),
    ];
  });
  const worst = ['seconds without reads', 'seconds without writes'];
  const sums = ['requests failed', 'acknowledged writes lost', 'wrong answers'];
  return [['fault', 'replication', 'rounds', ...worst, ...sums], ...rows];
}

/** A run of the benchmark with `--disk`. */
interface Stored {
  readonly results: readonly [
    {
      readonly disk: {
        readonly total: number;
        readonly relations: readonly {
          readonly name: string;
          readonly key: string | null;
          readonly megabytes: number;
        }[];
        readonly updates: readonly {
          readonly compression: string;
          readonly first: number;
          readonly next: number;
          readonly mean: number;
        }[];
      };
    },
  ];
}

function diskRows({ results: [{ disk }] }: Stored): Row[] {
  const rows = disk.relations.map(({ name, key, megabytes }) => [
    `\`${name}\``,
    key === null ? '–' : `\`${key}\``,
    digits(megabytes),
  ]);
  return [['table or index', 'key', 'MB'], ...rows, ['the database', '–', digits(disk.total)]];
}

/** A run of the benchmark with `--growth`. */
interface Grown {
  readonly results: readonly (Stored['results'][0] & {
    readonly rows: number;
    readonly imported: number;
    readonly memory: readonly [number];
    readonly lists: readonly ListMeasurement[];
  })[];
}

/** What grows with the products, and what it would be with ten times as many as in the last column. */
function growthRows({ results }: Grown): Row[] {
  const lists = results[0]?.lists ?? [];
  const lines: [string, number[]][] = [
    ['import into an empty table, minutes', results.map(({ imported }) => imported / 60)],
    ['database, GB', results.map(({ disk }) => disk.total / 1000)],
    ['its indexes, GB', results.map(({ disk }) => indexesOf(disk.relations) / 1000)],
    ['memory of the service, MiB', results.map(({ memory: [memory] }) => memory)],
    ['log of an update, kB', results.map(({ disk }) => (disk.updates[0]?.mean ?? NaN) / 1000)],
    ...lists.map(({ list }, at): [string, number[]] => [
      `${list}, ms`,
      results.map((each) => each.lists[at]?.p50 ?? NaN),
    ]),
  ];
  const extrapolated = (values: readonly number[]): number => {
    const [before = NaN, last = NaN] = values.slice(-2);
    return last * Math.max(1, last / before);
  };
  return [
    ['', ...results.map(({ rows }) => grouped(rows)), '100,000,000, extrapolated'],
    ...lines.map(([name, values]) => [name, ...[...values, extrapolated(values)].map(digits)]),
  ];
}

function indexesOf(relations: Stored['results'][0]['disk']['relations']): number {
  return relations.reduce((sum, { key, megabytes }) => sum + (key === null ? 0 : megabytes), 0);
}

function updateRows({ results: [{ disk }] }: Stored): Row[] {
  const kilobytes = (bytes: number): string => digits(bytes / 1000);
  const rows = disk.updates.map(({ compression, first, mean, next }) => [
    `\`${compression}\``,
    kilobytes(first),
    kilobytes(mean),
    kilobytes(next),
  ]);
  return [['`wal_compression`', 'first, kB', 'mean of 2,000, kB', 'without images, kB'], ...rows];
}

const [SERVICE, UNCACHED] = ['this service', 'this service, no page cache'];
const [ROWS, FIND_AND_COUNT] = ['node:http + pg, rows', 'NestJS + findAndCount'];

function throughputRows({ results: [{ measurements }] }: Measured): Row[] {
  const rows = measurements.map(({ scenario, contender, perSecond, p50, p99 }) => [
    scenario,
    contender,
    digits(perSecond),
    digits(p50),
    digits(p99),
  ]);
  return [['scenario', 'contender', 'requests a second', 'p50, ms', 'p99, ms'], ...rows];
}

function latencyRows({ results: [{ alone }] }: Measured): Row[] {
  const rows = alone.map(({ scenario, contender, p50, p99 }) => [
    scenario,
    contender,
    digits(p50),
    digits(p99),
  ]);
  return [['scenario', 'contender', 'p50, ms', 'p99, ms'], ...rows];
}

function ratioRows({ results: [{ measurements, alone }] }: Measured): Row[] {
  const of = (list: readonly Measurement[], scenario: string, contender: string): Measurement => {
    const found = list.find((one) => one.scenario === scenario && one.contender === contender);
    if (!found) throw new Error(`${scenario} of ${contender} was not measured`);
    return found;
  };
  const rate = (scenario: string, contender: string) =>
    of(measurements, scenario, contender).perSecond;
  const p50 = (scenario: string) => of(alone, scenario, UNCACHED).p50 ?? NaN;
  const first = 'first page';
  const rows: [string, number][] = [
    [
      'first page, cached, against `node:http` and `pg` without a count',
      rate(first, SERVICE) / rate(first, ROWS),
    ],
    [
      'first page, without a page cache, against `node:http` and `pg` without a count',
      rate(first, UNCACHED) / rate(first, ROWS),
    ],
    [
      'first page, cached, against NestJS with `findAndCount`',
      rate(first, SERVICE) / rate(first, FIND_AND_COUNT),
    ],
    [
      'first page, without a page cache, against NestJS with `findAndCount`',
      rate(first, UNCACHED) / rate(first, FIND_AND_COUNT),
    ],
    [
      '304 against the first page without a page cache',
      rate('304', SERVICE) / rate(first, UNCACHED),
    ],
    [
      'p50 of one connection: page at 90 % against first page, both without a page cache',
      p50('page at 90 %') / p50(first),
    ],
  ];
  return [['ratio', ''], ...rows.map(([name, ratio]): Row => [name, `${digits(ratio)} ×`])];
}

/** The service as the compose file runs it. */
const DELIVERED = 'this service behind HAProxy, no page cache';

function overloadRows({ results: [{ overloaded }] }: Overloaded): Row[] {
  const { best, loads } = overloaded;
  const rows = loads
    .filter(({ contender }) => contender === DELIVERED)
    .map((load): Row => [
      String(load.connections),
      `${load.times} ×`,
      `${digits(load.admitted.perSecond)} (${digits(load.admitted.perSecond / best)})`,
      ...[load.admitted, load.refused, load.health].map(
        ({ p50, p99 }) => `${digits(p50)}, ${digits(p99)}`,
      ),
      String(load.unhealthy),
      String(load.broken + load.unanswered),
    ]);
  const latencies = ['answered', 'refused', 'health'].map((each) => `${each}: p50, p99, ms`);
  const header = ['connections', 'load', 'answered a second (of best)', ...latencies];
  return [[...header, 'not ready', 'broken or unanswered'], ...rows];
}

/** The number of products that the table of all contenders has. */
const PRODUCTS = 1_000_000;

function listRows({ results }: Storefront): Row[] {
  const { lists } = results.find(({ rows }) => rows === PRODUCTS) ?? { lists: [] };
  const contenders = unique(lists.map(({ contender }) => contender));
  const rows = unique(lists.map(({ list }) => list)).map((list): Row => [
    list,
    String(lists.find((each) => each.list === list)?.weight),
    ...contenders.map((contender) => inPlainPages(p50Of(lists, list, contender), lists)),
  ]);
  const means = contenders.map((contender) => inPlainPages(meanOf(lists, contender), lists));
  return [['list', 'weight', ...contenders], ...rows, ['mean by weight', '100', ...means]];
}

/** The p50 of a list; `NaN` if the contender does not have the list. */
function p50Of(lists: readonly ListMeasurement[], name: string, of: string): number {
  return lists.find(({ list, contender }) => list === name && contender === of)?.p50 ?? NaN;
}

/** The mean of the p50 of all lists by their weights, whose sum is 100. */
function meanOf(lists: readonly ListMeasurement[], of: string): number {
  const weighted = lists.filter(({ contender, weight }) => contender === of && weight > 0);
  return weighted.reduce((sum, { p50, weight }) => sum + ((p50 ?? NaN) * weight) / 100, 0);
}

/** Milliseconds, and the same in plain pages that the service reads anew; a dash for `NaN`. */
function inPlainPages(time: number, lists: readonly ListMeasurement[]): string {
  if (Number.isNaN(time)) return '–';
  return `${digits(time)} (${digits(time / p50Of(lists, 'plain page', UNCACHED))})`;
}

function mixRows({ results }: Storefront): Row[] {
  const rows = results.flatMap(({ rows: products, mixes }) =>
    mixes.map(({ scenario, contender, perSecond, p50, p99, requests, timedOut }): Row => {
      const usual = mixes.find((m) => m.scenario === scenario && m.contender === FIND_AND_COUNT);
      return [
        grouped(products),
        scenario,
        contender,
        digits(perSecond),
        `${digits(perSecond / (usual?.perSecond ?? NaN))} ×`,
        digits(p50),
        digits(p99),
        String(requests),
        String(timedOut),
      ];
    }),
  );
  const heading = ['products', 'mix', 'contender', 'requests a second', 'of `findAndCount`'];
  return [[...heading, 'p50, ms', 'p99, ms', 'requests', 'timed out'], ...rows];
}

function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

function unique<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)];
}

/** Three digits, as the benchmark prints them; a dash where nothing was answered. */
function digits(value: number | null): string {
  return value === null || Number.isNaN(value)
    ? '–'
    : String(Number(value.toPrecision(value >= 1000 ? 4 : 3)));
}
