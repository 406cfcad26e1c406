import { FIND_AND_COUNT, PAGINATE, ROWS, SERVICE, UNCACHED } from './contenders.js';
import type { Copies } from './copies/copies.js';
import type { Disk } from './disk.js';
import type { FirstMinute } from './first-minute.js';
import type { Loading } from './loading.js';
import type { Machine } from './machine.js';
import type { Effort, Measurement } from './measure.js';
import type { ListMeasurement } from './measure-lists.js';
import type { MixMeasurement } from './measure-mix.js';
import type { Overload } from './overload.js';
import { PLAIN_PAGE } from './storefront.js';
import type { Updating } from './updating.js';

/** Everything that a run found out about one number of products. */
export interface Results {
  readonly rows: number;
  readonly measurements: readonly Measurement[];
  /** Latencies of one connection alone. */
  readonly alone: readonly Measurement[];
  /** Those of a storefront, each by itself. */
  readonly lists: readonly ListMeasurement[];
  /** All of them together, without and with a writer. */
  readonly mixes: readonly MixMeasurement[];
  /** Seconds after each quarter of a walk over all products. */
  readonly walk?: readonly number[];
  readonly loading?: Loading;
  readonly updating?: Updating;
  /** Seconds of an import into an empty table, for what grows with the products. */
  readonly imported?: number;
  /** MiB. */
  readonly memory?: readonly number[];
  readonly overloaded?: Overload;
  readonly firstMinute?: FirstMinute;
  readonly disk?: Disk;
  readonly copies?: Copies;
}

export interface Report {
  readonly machine: Machine;
  readonly effort: Effort;
  readonly results: readonly Results[];
}

/** The tables of one number of products, as text. */
export function tables(results: Results): string {
  return [
    scenarioTable,
    listTable,
    mixTable,
    overloadTable,
    firstMinuteTable,
    diskTable,
    copiesTable,
  ]
    .map((table) => table(results))
    .filter((table) => table !== '')
    .join('\n\n');
}

/** Of each list the p50 of each contender, and in how many plain pages of the service that is. */
function listTable({ lists }: Results): string {
  if (lists.length === 0) return '';
  const contenders = [...new Set(lists.map(({ contender }) => contender))];
  const names = [...new Set(lists.map(({ list }) => list))];
  const p50 = (list: string, contender: string): number =>
    lists.find((each) => each.list === list && each.contender === contender)?.p50 ?? NaN;
  const plainPage = p50(PLAIN_PAGE, UNCACHED);
  return columns([
    ['list, p50 in ms (in plain pages)', ...contenders],
    ...names.map((name) => [
      name,
      ...contenders.map((contender) => {
        const time = p50(name, contender);
        return `${number(time)} (${number(time / plainPage)})`;
      }),
    ]),
  ]);
}

function copiesTable({ copies }: Results): string {
  if (!copies) return '';
  const lines = copies.copies.map((copy) => [
    copy.name,
    ...[copy.missed, copy.old, copy.leftOver, copy.differing, copy.begun, copy.requests].map(
      String,
    ),
    number(copy.bytes / 1e6),
    number(copy.behind.median),
    number(copy.behind.greatest),
  ]);
  const behind = ['median s behind', 'greatest'];
  const counted = ['missed', 'old', 'left over', 'comparisons', 'begun', 'requests', 'MB'];
  return columns([['copy', ...counted, ...behind], ...lines]);
}

function mixTable({ mixes }: Results): string {
  if (mixes.length === 0) return '';
  const lines = mixes.map((mix) => {
    const { scenario, contender, requests, timedOut, repeated, perSecond, p50, p99 } = mix;
    const service = mixes.find(
      (each) => each.scenario === scenario && each.contender === UNCACHED,
    )?.perSecond;
    return [
      scenario,
      contender,
      number(perSecond),
      `${number(p50)} ms`,
      `${number(p99)} ms`,
      `${number((service ?? NaN) / perSecond)} ×`,
      String(requests),
      String(repeated),
      String(timedOut),
    ];
  });
  return columns([
    [
      'mix',
      'contender',
      'a second',
      'p50',
      'p99',
      'service without cache is',
      'requests',
      'repeated',
      'timed out',
    ],
    ...lines,
  ]);
}

function overloadTable({ overloaded }: Results): string {
  if (!overloaded) return '';
  const { best, after, loads, besides } = overloaded;
  const lines = loads.map((load) => [
    String(load.connections),
    `${load.times} ×`,
    load.contender,
    `${number(load.admitted.perSecond)} (${number(load.admitted.perSecond / best)})`,
    ...[load.admitted, load.refused, load.health].map(
      ({ p50, p99 }) => `${number(p50)} / ${number(p99)}`,
    ),
    String(load.unhealthy),
    String(load.broken),
    String(load.unanswered),
    number(load.generatorDelay),
    String(load.memory),
  ]);
  const table = columns([
    [
      'connections',
      'load',
      'contender',
      'answered a second (of best)',
      'answered: p50 / p99, ms',
      'refused',
      'health',
      'unhealthy',
      'broken',
      'unanswered',
      'generator, ms',
      'memory, MiB',
    ],
    ...lines,
  ]);
  const clients = columns([
    ['contender', 'a client alone: p50 / p99, ms', 'beside a greedy one', 'refused', 'health'],
    ...besides.map(({ contender, alone, beside }) => [
      contender,
      ...[alone, beside].map(({ admitted: { p50, p99 } }) => `${number(p50)} / ${number(p99)}`),
      number(beside.refused.perSecond),
      number(beside.health.p99),
    ]),
  ]);
  return `${table}\n\nbest ${number(best)} a second, afterwards ${number(after)}\n\n${clients}`;
}

/** Of each list the p50 in the minute after the import, and at rest. */
function firstMinuteTable({ firstMinute }: Results): string {
  if (!firstMinute) return '';
  const { imported, maintained, lists } = firstMinute;
  const table = columns([
    ['list, p50 in ms', 'first minute', 'at rest', 'ratio'],
    ...lists.map(({ list, first, steady }) => [
      list,
      number(first.p50),
      number(steady.p50),
      number(first.p50 / steady.p50),
    ]),
  ]);
  return `${table}\n\nimported in ${number(imported)} s, visible ${number(maintained)} s before the end`;
}

/** The size of tables and indexes, and the write-ahead log of an update. */
function diskTable({ disk }: Results): string {
  if (!disk) return '';
  const sizes = columns([
    ['table or index', 'key', 'MB'],
    ...disk.relations.map(({ name, key, megabytes }) => [name, key ?? '', number(megabytes)]),
    ['all', '', number(disk.total)],
  ]);
  const updates = columns([
    ['update of a price, bytes', 'first', 'next', 'mean'],
    ...disk.updates.map(({ compression, first, next, mean }) => [
      compression,
      number(first),
      number(next),
      number(mean),
    ]),
  ]);
  return `${sizes}\n\n${updates}`;
}

function scenarioTable({ measurements }: Results): string {
  if (measurements.length === 0) return '';
  const lines = measurements.map((measurement) => {
    const { scenario, contender, perSecond, p50, p99 } = measurement;
    const service = of(measurements, scenario, SERVICE)?.perSecond ?? NaN;
    return [
      scenario,
      contender,
      number(perSecond),
      `${number(p50)} ms`,
      `${number(p99)} ms`,
      `${number(service / perSecond)} ×`,
    ];
  });
  return columns([['scenario', 'contender', 'a second', 'p50', 'p99', 'service is'], ...lines]);
}

/** The ratios that matter, a line each. */
export function ratios(results: Results): string {
  const { measurements, alone, walk, imported, loading, updating, memory } = results;
  const perSecond = (scenario: string, contender: string): number =>
    of(measurements, scenario, contender)?.perSecond ?? NaN;
  const p50 = (scenario: string, contender: string): number =>
    of(alone, scenario, contender)?.p50 ?? NaN;
  const lines: [string, string][] = [];
  for (const service of [SERVICE, UNCACHED]) {
    const first = perSecond('first page', service);
    for (const other of [ROWS, FIND_AND_COUNT, PAGINATE]) {
      const ratio = first / perSecond('first page', other);
      lines.push([`first page, requests a second: ${service} / ${other}`, number(ratio)]);
    }
    for (const [shallow, deep] of [
      ['first page', 'page at 90 %'],
      ['filtered', 'filtered, at 90 %'],
      ['first page, writer', 'page at 90 %, writer'],
    ] as const) {
      const ratio = p50(deep, service) / p50(shallow, service);
      lines.push([`p50 of one connection: ${deep} / ${shallow}, ${service}`, number(ratio)]);
    }
    const notModified = perSecond('304', service) / first;
    lines.push([`requests a second: 304 / the page, ${service}`, number(notModified)]);
  }
  lines.push([
    `requests a second: 304 / the page read anew`,
    number(perSecond('304', SERVICE) / perSecond('first page', UNCACHED)),
  ]);
  if (walk) {
    lines.push(['seconds after each quarter of a walk', walk.map(number).join(', ')]);
    const ratio = (walk[3] ?? NaN) / (walk[0] ?? NaN);
    lines.push(['walk: all / the first quarter (4 is proportional)', number(ratio)]);
  }
  if (loading) {
    const { catalogueImport, bareCopy, copyWithoutTally } = loading;
    lines.push([
      `import / bare COPY (${number(catalogueImport)} s / ${number(bareCopy)} s)`,
      number(catalogueImport / bareCopy),
    ]);
    lines.push([
      `import / bare COPY without a tally (${number(copyWithoutTally)} s)`,
      number(catalogueImport / copyWithoutTally),
    ]);
  }
  if (updating) {
    const { withTally, withoutTally } = updating;
    lines.push([
      `update of a price / without a tally (${number(withTally)} ms / ${number(withoutTally)} ms)`,
      number(withTally / withoutTally),
    ]);
  }
  if (imported !== undefined) lines.push(['import into an empty table, s', number(imported)]);
  if (memory) lines.push(['resident memory over time, MiB', memory.join(', ')]);
  return columns(lines.filter(([, value]) => value !== NO_NUMBER));
}

export function of(
  measurements: readonly Measurement[],
  scenario: string,
  contender: string,
): Measurement | undefined {
  return measurements.find((each) => each.scenario === scenario && each.contender === contender);
}

/** What was not measured, or not answered in time. */
const NO_NUMBER = '–';

/** Three digits that mean something. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return NO_NUMBER;
  return String(Number(value.toPrecision(value >= 1000 ? 4 : 3)));
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
