import { readFile } from 'node:fs/promises';
import type cdn from '../../bench/measured/cdn.json';
import type disk from '../../bench/measured/disk.json';
import type firstMinute from '../../bench/measured/first-minute.json';
import type growth from '../../bench/measured/growth.json';
import type moments from '../../bench/measured/moments.json';
import type overload from '../../bench/measured/overload.json';
import type measured from '../../bench/measured/results.json';
import type waits from '../../bench/measured/waits.json';
import type { ExpectedTable, Row } from './markdown.js';

/** A run on one number of products. */
type Single<Run extends { readonly results: readonly unknown[] }> = Omit<Run, 'results'> & {
  readonly results: readonly [Run['results'][number]];
};
type Measured = Single<typeof measured>;
type Overloaded = Single<typeof overload>;
type Imported = Single<typeof firstMinute>;
type Polled = Single<typeof cdn>;
type Stored = Single<typeof disk>;
type AtMoments = Single<typeof moments>;
/** What one round of a fault of the cluster did. */
interface FaultRound {
  readonly mode: string;
  readonly fault: string;
  readonly secondsWithoutReads: number;
  readonly secondsWithoutWrites: number;
  readonly secondsUntilRefused: number;
  /** Age of the oldest `X-Updated-Until`. */
  readonly secondsBehind: number;
  readonly requests: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly acknowledgedWritesLost: number;
  readonly stayingWritesLost: number;
  readonly wrongAnswers: readonly string[];
  readonly olderAnswers: number;
  readonly olderBySeconds: number;
  readonly copyDifferences: number;
  readonly copiesBegun: number;
}
type Measurement = Measured['results'][0]['measurements'][number];
type ListMeasurement = Pick<
  Measured['results'][0]['lists'][number],
  'list' | 'weight' | 'contender'
> & {
  readonly p50: number | null;
};
/** What every run says of itself. */
type Run = Pick<typeof measured, 'machine'> & {
  readonly results: readonly { readonly rows: number }[];
};

/** By document, the tables of what was measured. */
export async function measuredTables(): Promise<Record<string, Record<string, ExpectedTable>>> {
  const runs = await Promise.all(
    RUNS.map(async ({ file }) => JSON.parse(await readFile(`bench/measured/${file}`, 'utf8'))),
  );
  const [measured, overloaded, first, stored, waited, grown] = runs;
  const failover = JSON.parse(await readFile('bench/measured/failover.json', 'utf8'));
  const polled = JSON.parse(await readFile(`bench/measured/${CDN}`, 'utf8'));
  const atMoments = JSON.parse(await readFile(`bench/measured/${MOMENTS}`, 'utf8'));
  return {
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
      waits: { rows: waitRows(waited) },
      growth: { rows: growthRows(grown) },
    },
    'docs/copies.md': {
      faults: { rows: copyFaultRows(atMoments), hasOwnMeanings: true },
      moments: { rows: momentRows(atMoments) },
      histories: { rows: historyRows(atMoments) },
    },
    'docs/cdn.md': {
      cdn: { rows: cdnRows(polled) },
    },
    'deploy/cluster/README.md': {
      faults: { rows: faultRows(failover) },
    },
  };
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
  { file: 'waits.json', options: ' -- --waits --rows 10000', headings: ['Requests that wait'] },
  {
    file: 'growth.json',
    options: ' -- --growth --rows 100000,1000000,10000000',
    headings: ['A hundred million products'],
  },
];

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

function firstMinuteRows({ results: [{ firstMinute }] }: Imported): Row[] {
  const rows = firstMinute.lists.map(({ list, first, steady }) => [
    list,
    digits(first.p50),
    digits(steady.p50),
    digits(first.p50 / steady.p50),
  ]);
  return [['list', 'first minute, ms', 'at rest, ms', 'ratio'], ...rows];
}

const CDN = 'cdn.json';

function cdnRows({ machine, results: [{ rows: products, cdn: found }] }: Polled): Row[] {
  const { p50, p99, greatest } = found.latency;
  const seconds = (...each: number[]): string => each.map((ms) => digits(ms / 1000)).join(', ');
  return [
    ['readers through nginx', ''],
    ['results', `[${CDN}](../bench/measured/${CDN})`],
    ['date', machine.date],
    ['machine', machineOf(machine)[0]],
    ['Node.js, PostgreSQL', machineOf(machine)[1]],
    ['products', grouped(products)],
    ['readers, each every', `${grouped(found.readers)}, ${found.period} s`],
    ['seconds', grouped(found.seconds)],
    ['requests a second, of all readers', digits(found.asked)],
    ['requests a second, that reached the service', digits(found.reached)],
    ['failures', grouped(found.failures)],
    ['seconds until an answer came: median, p99, greatest', seconds(p50, p99, greatest)],
    [
      'seconds since the latest change in it: median, p99, greatest',
      seconds(found.age.p50, found.age.p99, found.age.greatest),
    ],
  ];
}

function copyFaultRows({ results: [{ moments }] }: AtMoments): Row[] {
  const rows = Object.entries(moments.faults).sort(([one], [other]) => one.localeCompare(other));
  return [
    ['fault', 'times', 'what happens'],
    ...rows.map(([fault, times]) => [fault, String(times), '']),
  ];
}

const MOMENTS = 'moments.json';

function momentRows({ machine, results: [{ rows: objects, moments }] }: AtMoments): Row[] {
  const { written, copies, faults, seconds } = moments;
  const inEach = (value: (copy: (typeof copies)[number]) => number): string =>
    copies.map((copy) => grouped(value(copy))).join(', ');
  return [
    ['run', ''],
    ['results', `[${MOMENTS}](../bench/measured/${MOMENTS})`],
    ['date', machine.date],
    ['machine', machineOf(machine)[0]],
    ['Node.js, PostgreSQL', machineOf(machine)[1]],
    ['objects, minutes', `${grouped(objects)}, ${Math.round(seconds / 60)}`],
    [
      'transactions committed, rolled back',
      `${grouped(written.commits)}, ${grouped(written.rolledBack)}`,
    ],
    [
      'open for a second or longer',
      `${grouped(written.late)}, at most ${digits(written.longestOpen)} s`,
    ],
    [
      'faults, of each kind',
      `${total(Object.values(faults))}: ${Object.values(faults).sort().join(', ')}`,
    ],
    ['copies', copies.map(({ name }) => name).join(', ')],
    ['rounds', inEach((copy) => copy.rounds)],
    ['comparisons', inEach((copy) => copy.comparisons)],
    ['comparisons that found a difference', inEach((copy) => copy.differing)],
    ['broken', inEach((copy) => copy.broken)],
    ['moments that were lost before the comparison', inEach((copy) => copy.lost)],
    ['begun', inEach((copy) => copy.begun)],
  ];
}

/** The histories of the source, and all those of the looks at copies together. */
function historyRows({ checked }: AtMoments): Row[] {
  const rowOf = (name: string, ofName: typeof checked): Row => [
    name,
    String(ofName.length),
    grouped(total(ofName.map(({ operations }) => operations))),
    `${ofName.filter(({ linearizable }) => linearizable).length} of ${ofName.length}`,
    digits(total(ofName.map(({ seconds }) => seconds))),
  ];
  const isOfSource = ({ history }: { readonly history: string }): boolean =>
    history.startsWith('source');
  return [
    ['operations on', 'histories', 'operations', 'linearizable', 'seconds'],
    rowOf('the source: commits, and rounds of copies', checked.filter(isOfSource)),
    rowOf(
      'the copies: rounds, and looks',
      checked.filter((each) => !isOfSource(each)),
    ),
  ];
}

/** For each fault and mode, the worst time of a round, or the sum of the rounds. */
function faultRows({ rounds }: { readonly rounds: readonly FaultRound[] }): Row[] {
  const names = unique(rounds.map(({ fault, mode }) => `${fault}|${mode}`)).sort();
  const rows = names.map((name): Row => {
    const [fault = '', mode = ''] = name.split('|');
    const own = rounds.filter((round) => round.fault === fault && round.mode === mode);
    const sum = (value: (round: FaultRound) => number) => total(own.map(value));
    const worst = (value: (round: FaultRound) => number) => digits(Math.max(...own.map(value)));
    return [
      fault,
      mode,
      String(own.length),
      worst((round) => round.secondsWithoutReads),
      worst((round) => round.secondsWithoutWrites),
      failuresOf(own),
      [sum((round) => round.acknowledgedWritesLost), sum((round) => round.stayingWritesLost)]
        .map(grouped)
        .join(', '),
      [sum((round) => round.wrongAnswers.length), sum((round) => round.olderAnswers)]
        .map(grouped)
        .join(', '),
      worst((round) => round.olderBySeconds),
      worst((round) => round.secondsUntilRefused),
      worst((round) => round.secondsBehind),
      [sum((round) => round.copyDifferences), sum((round) => round.copiesBegun)]
        .map(grouped)
        .join(', '),
    ];
  });
  const header = ['fault', 'replication', 'rounds', 's without reads', 's without writes'];
  const lost = ['requests failed', 'acknowledged writes lost: by HAProxy, by the TCP proxy'];
  const answers = ['answers: wrong, stale', 'stale by s', 's until a deleted token is refused'];
  return [
    [
      ...header,
      ...lost,
      ...answers,
      'age of `X-Updated-Until`, s',
      'copy: differences, begun again',
    ],
    ...rows,
  ];
}

/** The number of each errcode, and of all requests. */
function failuresOf(rounds: readonly FaultRound[]): string {
  const reasons = unique(rounds.flatMap(({ failures }) => Object.keys(failures))).sort();
  const each = reasons.map(
    (reason) => `\`${reason}\`: ${total(rounds.map(({ failures }) => failures[reason] ?? 0))}`,
  );
  return `${each.join(', ') || '0'} of ${grouped(total(rounds.map(({ requests }) => requests)))}`;
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function diskRows({ results: [{ disk }] }: Stored): Row[] {
  const rows = disk.relations.map(({ name, key, megabytes }) => [
    `\`${name}\``,
    key === null ? '–' : `\`${key}\``,
    digits(megabytes),
  ]);
  return [['table or index', 'key', 'MB'], ...rows, ['the database', '–', digits(disk.total)]];
}

/** What grows with the products, and what it would be with ten times as many as in the last column. */
function growthRows({ results }: typeof growth): Row[] {
  const lists = results[0]?.lists ?? [];
  const lines: [string, number[]][] = [
    ['import into an empty table, minutes', results.map(({ imported }) => imported / 60)],
    ['database, GB', results.map(({ disk }) => disk.total / 1000)],
    ['its indexes, GB', results.map(({ disk }) => indexesOf(disk.relations) / 1000)],
    ['memory of the service, MiB', results.map(({ memory: [memory = NaN] }) => memory)],
    ['log of an update, kB', results.map(({ disk }) => (disk.updates[0]?.mean ?? NaN) / 1000)],
    ...lists.map(({ list }, at): [string, number[]] => [
      `${list}, ms`,
      // What times out counts as 30 seconds, which says nothing of how it grows.
      results.map(({ lists: measured }) => {
        const { p50 = NaN } = measured[at] ?? {};
        return p50 < 30_000 ? p50 : NaN;
      }),
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

function waitRows({ results: [{ waits: loads }] }: Single<typeof waits>): Row[] {
  const rows = loads.map(({ waiting, changes, cpu, ...latency }): Row => {
    const { median = NaN, p99 = NaN, greatest = NaN }: Partial<typeof latency> = latency;
    return [
      grouped(waiting),
      String(changes),
      ...[median, p99, greatest, cpu.instance, cpu.postgres].map(digits),
    ];
  });
  const latencies = ['median, ms', 'p99, ms', 'greatest, ms'];
  const cpu = ['CPU of the instance, %', 'CPU of PostgreSQL, %'];
  return [['requests that wait', 'changes', ...latencies, ...cpu], ...rows];
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

function listRows({ results }: typeof measured): Row[] {
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

/** Milliseconds, and that time in plain pages that the service reads from the database; a dash for `NaN`. */
function inPlainPages(time: number, lists: readonly ListMeasurement[]): string {
  if (Number.isNaN(time)) return '–';
  return `${digits(time)} (${digits(time / p50Of(lists, 'plain page', UNCACHED))})`;
}

function mixRows({ results }: typeof measured): Row[] {
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
  return Number.isNaN(value) ? '–' : value.toLocaleString('en-US');
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
