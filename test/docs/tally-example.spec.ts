import { expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { Column, PrimaryColumn } from 'typeorm';
import { EnumsParam, identifierColumn, ListQueryDto, QueryOf, Resource } from '@catalogue/server';
import { FOLD_SIZE, TallyMaintenance } from '#server/tally/maintain.js';
import { miscounts } from '#server/verify/object-checks.js';
import { startWith } from '../list/migrated.js';
import { fencesOf } from './markdown.js';
import { controllerOf, resourceModule } from '../list/resource-module.js';
import { shared } from '#server/testing/shared.js';

enum Kind {
  DESK = 'DESK',
  FLOOR = 'FLOOR',
}

/** The resource of the example. It is `lamps` there; a project may have one. */
@Resource('test_lamps', { counted: ['kind'] })
class Lamp {
  @PrimaryColumn(identifierColumn)
  lampID!: string;

  @Column({ type: 'enum', enum: Kind, enumName: 'test_lamp_kind' })
  kind!: Kind;
}

@QueryOf(Lamp, { sort: ['lampID'] })
class ListLampsDto extends ListQueryDto {
  @EnumsParam('The lamps of these kinds.', Kind) kind?: Kind[];
}

const LampsModule = resourceModule([Lamp], controllerOf(Lamp, { list: ListLampsDto }));

/** Objects of a range in the example. */
const RANGE_SIZE = 4;

const service = shared(() => startWith(LampsModule));

/** One range of a facet: its objects, and its rows in the tally and among the deltas. */
interface Range {
  readonly facet: string;
  readonly objects: string | null;
  readonly tallied: string | null;
  readonly deltas: string | null;
}

/** The tally as the document draws it: a line for each facet, with its ranges side by side. */
async function drawing(): Promise<string> {
  const ranges = await service.dataSource.query<Range[]>(
    `WITH ranges AS (
       SELECT facet, lowest, lead(lowest) OVER (PARTITION BY facet ORDER BY lowest) AS next FROM (
         SELECT facet, lowest FROM test_lamps_tally UNION SELECT facet, lowest FROM test_lamps_tally_deltas
       ) named
     )
     SELECT facet, (
         SELECT string_agg("lampID", ' ' ORDER BY "lampID") FROM test_lamps
         WHERE facet IN ('', 'kind=' || kind) AND "lampID" >= lowest AND ("lampID" < next) IS NOT FALSE
       ) AS objects, (
         SELECT count::text FROM test_lamps_tally tally
         WHERE tally.facet = ranges.facet AND tally.lowest = ranges.lowest
       ) AS tallied, (
         SELECT string_agg(to_char(count, 'FMSG999'), ' ' ORDER BY ctid) FROM test_lamps_tally_deltas deltas
         WHERE deltas.facet = ranges.facet AND deltas.lowest = ranges.lowest
       ) AS deltas
     FROM ranges ORDER BY facet, lowest`,
  );
  const facets = [...new Set(ranges.map(({ facet }) => facet))].map((facet) => {
    const cells = (of: 'objects' | 'tallied' | 'deltas') =>
      ranges.filter((range) => range.facet === facet).map((range) => range[of] ?? '-');
    const deltas = cells('deltas');
    return [
      facet || "''",
      cells('objects').join(' | '),
      cells('tallied').join(' | '),
      deltas.every((each) => each === '-') ? '' : deltas.join(' | '),
    ];
  });
  const rows = [['facet', 'objects', 'tally', 'deltas'], ...facets];
  const widths = [0, 1, 2, 3].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('   ');
  return rows.map((row) => `${line(row).trimEnd()}\n`).join('');
}

/** Folds the deltas. With a size, it also cuts the ranges. */
async function maintain(rangeSize?: number): Promise<void> {
  const metadata = service.dataSource.getMetadata(Lamp);
  const maintenance = new TallyMaintenance(service.dataSource, metadata, FOLD_SIZE, rangeSize);
  expect(await maintenance.run()).toBe(true);
}

it('The example of the tally in docs/architecture.md is what happens', async () => {
  const { fences } = fencesOf(await readFile('docs/architecture.md', 'utf8'));
  const example = fences.filter(({ heading }) => heading === 'An example');
  const written = example.filter(({ language }) => language === 'sql').map(({ text }) => text);
  const [insertion = '', move = '', deletion = ''] = written;
  const run = (sql: string) => service.dataSource.query(sql.replaceAll('lamps', 'test_lamps'));
  const list = async (path: string) => {
    const { body } = await service.get(`/test_${path}`).expect(200);
    const { count, objects } = body.response_data as { count: string; objects: Lamp[] };
    const names = objects.map(({ lampID }) => lampID);
    return `GET /${path}   count ${count}, ${names.join(' ')}\n`;
  };
  const shown: string[] = [];
  const steps = [
    () => run(insertion),
    () => maintain(),
    () => maintain(RANGE_SIZE),
    () => run(move),
    () => run(deletion).then(() => maintain(RANGE_SIZE)),
  ];
  for (const [at, step] of steps.entries()) {
    await step();
    shown.push(await drawing());
    expect(await miscounts(service.dataSource, service.dataSource.getMetadata(Lamp))).toEqual([]);
    if (at === 3) {
      shown.push((await list('lamps?offset=5&limit=2')) + (await list('lamps?kind=DESK&limit=2')));
    }
  }
  expect(written).toHaveLength(3);
  expect(example.filter(({ language }) => language === 'text').map(({ text }) => text)).toEqual(
    shown,
  );
});
