import { describe, expect, it } from '@jest/globals';
import { Column, Index, LessThanOrEqual, PrimaryColumn, Raw } from 'typeorm';
import {
  BooleanParam,
  identifierColumn,
  IdentifiersParam,
  IntegerParam,
  ListQueryDto,
  nameColumn,
  QueryOf,
  Resource,
  TextParam,
} from '@catalogue/server';
import { differences } from '#server/schema/differences.js';
import { findViolations } from '#server/verify/verify.js';
import { createDeclared, installDeclared } from './declared.js';
import { sharedService } from '../service.js';
import { controllerOf, resourceModule } from '../list/resource-module.js';

/** Too long for the name of an index. */
const LONG = 'aNameOfFiftyLettersWhichIsAsLongAsAFieldMayBeNamed';

@Resource('test_wide_things', {
  filtered: ['one', 'name', 'two', 'weight', 'three', 'four', 'five', LONG],
  sorted: ['name', 'weight', 'low'],
})
@Index(['stock', 'thingID'])
@Index(['code', 'thingID'])
class Thing {
  @PrimaryColumn({ ...identifierColumn, primaryKeyConstraintName: 'test_wide_things_pkey' })
  thingID!: string;

  @Column(identifierColumn) one!: string;
  @Column(identifierColumn) two!: string;
  @Column(identifierColumn) three!: string;
  @Column(identifierColumn) four!: string;
  @Column(identifierColumn) five!: string;
  @Column(nameColumn) name!: string;
  @Column({ type: 'numeric' }) weight!: string;
  @Column({ type: 'integer', nullable: true }) low!: number | null;
  @Column({ type: 'integer' }) stock!: number;
  @Column({ ...identifierColumn, nullable: true }) code!: string | null;
  @Column({ type: 'integer' }) [LONG]!: number;
}

@QueryOf(Thing, { sort: ['thingID', 'name', 'weight'], reads: [] })
class ListThingsDto extends ListQueryDto {
  @IdentifiersParam('The things of these codes.') code?: string[];
  @IdentifiersParam('The things of all codes but these.') codeNot?: string[];
  @BooleanParam('The things with a code, or without.') codeExists?: boolean;
  @IdentifiersParam('The things of all ones but these.') oneNot?: string[];
  @IntegerParam('The things with at most this stock.') stockMax?: number;
  @IntegerParam('The things that are at most this low.') lowMax?: number;
  @TextParam('The things of this name.') name?: string;
  @IntegerParam('The things whose name is longer.') nameLonger?: number;
  @IntegerParam('The things whose stock has this remainder.') stockModulo?: number;
}

const ThingsModule = resourceModule(
  [Thing],
  controllerOf(
    Thing,
    { list: ListThingsDto },
    {
      stockMax: (maximum) => ({ stock: LessThanOrEqual(maximum) }),
      lowMax: (maximum) => ({ low: LessThanOrEqual(maximum) }),
      stockModulo: (rest) => ({ stock: Raw((stock) => `${stock} % 7 = :rest`, { rest }) }),
      nameLonger: (length) => ({ name: Raw((name) => `length(${name}) > :length`, { length }) }),
    },
  ),
);

const service = sharedService({}, ThingsModule);

const query = <Row>(text: string) => service.dataSource.query<Row[]>(text);

const INSERTION = `INSERT INTO test_wide_things ("thingID", one, two, three, four, five, name, weight, stock, "${LONG}")
  VALUES ('t', '1', '2', '3', '4', '5', 'name', 1, 1, 1)`;

async function definitions(): Promise<string[]> {
  const rows = await query<{ definition: string }>(
    `SELECT pg_get_indexdef(indexrelid) AS definition FROM pg_index
     WHERE indrelid = 'test_wide_things'::regclass ORDER BY indexrelid`,
  );
  return rows.map(({ definition }) => definition.replace(/^.*INDEX | ON .* USING btree/g, ''));
}

describe('The indexes of lists', () => {
  it('carry the filtered columns that fit into a row, in the order declared', async () => {
    await createDeclared(service.dataSource);
    const key = '"thingID"';
    const all = `one, two, weight, three, four, five`;
    const hash = expect.stringMatching(
      /^test_wide_things_by_[0-9a-f]{12} \("aName\w+", "thingID"\)/,
    );
    expect(await definitions()).toEqual([
      `test_wide_things_pkey (${key})`,
      expect.stringMatching(/^"IDX_\w+" \(code, "thingID"\)$/),
      expect.stringMatching(/^"IDX_\w+" \(stock, "thingID"\)$/),
      `"test_wide_things_by_thingID" (${key}) INCLUDE (${all}, "${LONG}")`,
      `test_wide_things_by_one (one, ${key}) INCLUDE (two, weight, three, four, five, "${LONG}")`,
      // The name takes the place of the texts.
      `test_wide_things_by_name (name, ${key}) INCLUDE (weight, "${LONG}")`,
      `test_wide_things_by_two (two, ${key}) INCLUDE (one, weight, three, four, five, "${LONG}")`,
      `test_wide_things_by_weight (weight, ${key}) INCLUDE (one, two, three, four, five, "${LONG}")`,
      `test_wide_things_by_three (three, ${key}) INCLUDE (one, two, weight, four, five, "${LONG}")`,
      `test_wide_things_by_four (four, ${key}) INCLUDE (one, two, weight, three, five, "${LONG}")`,
      `test_wide_things_by_five (five, ${key}) INCLUDE (one, two, weight, three, four, "${LONG}")`,
      hash,
      `test_wide_things_by_low (low, ${key}) INCLUDE (${all}, "${LONG}")`,
    ]);
  });

  it('take the longest values, whatever their bytes', async () => {
    // Each character has four bytes, and no repetition that could be compressed.
    const text = (length: number, from: number) =>
      Array.from({ length }, (_, at) =>
        String.fromCodePoint(0x10000 + (((from + at) * 7919 * 104729) % 0xfffff)),
      ).join('');
    const texts = ['thingID', 'one', 'two', 'three', 'four', 'five'];
    await query(
      `INSERT INTO test_wide_things (${texts.map((name) => `"${name}"`).join(', ')}, name, weight, stock, "${LONG}")
       VALUES (${texts.map((_, at) => `'${text(100, 1000 * at)}'`).join(', ')}, '${text(500, 9000)}', ${'9'.repeat(99)}.5, 1, 1)`,
    );
    const [{ characters, bytes } = {}] = await query<{ characters: number; bytes: number }>(
      'SELECT length(name) AS characters, octet_length(name) AS bytes FROM test_wide_things',
    );
    expect({ characters, bytes }).toEqual({ characters: 500, bytes: 2000 });
    await query('DELETE FROM test_wide_things');
  });

  it('are what a second comparison finds', async () => {
    expect(await differences(service.dataSource)).toEqual([]);
    expect(await installDeclared(service.dataSource, true)).toEqual([]);
  });

  it.each(['an empty table', 'a table of objects'])(
    'become those that are declared, on %s',
    async (table) => {
      const before = (await definitions()).sort();
      if (table !== 'an empty table') await query(INSERTION);
      await query(
        `DROP INDEX test_wide_things_by_low;
       CREATE INDEX test_wide_things_by_low ON test_wide_things (low) INCLUDE (stock);
       CREATE INDEX test_wide_things_by_stock ON test_wide_things (stock DESC)`,
      );
      const others = (await definitions()).filter((index) => /by_(low|stock) /.test(index));
      const [installed] = await installDeclared(service.dataSource);
      expect(installed?.isConcurrent).toBe(table !== 'an empty table');
      // Another release may need the others.
      expect(await definitions()).toEqual(expect.arrayContaining(others));
      const found = await differences(service.dataSource);
      expect(found.filter(({ isSurplus }) => !isSurplus)).toEqual([]);
      expect(await installDeclared(service.dataSource)).toEqual([]);
      await installDeclared(service.dataSource, true);
      expect(await installDeclared(service.dataSource, true)).toEqual([]);
      expect((await definitions()).sort()).toEqual(before);
      await query('DELETE FROM test_wide_things');
    },
  );

  it('are replaced where their creation was interrupted', async () => {
    await query(
      `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'test_wide_things_by_low'::regclass`,
    );
    expect((await differences(service.dataSource)).map(({ text }) => text)).toEqual([
      'the index test_wide_things_by_low on test_wide_things is not as declared',
    ]);
    await installDeclared(service.dataSource);
    expect(await differences(service.dataSource)).toEqual([]);
  });

  it('are named by verify where a filter is in none of those that sort', async () => {
    const found = await findViolations(service.application);
    const without = (filter: string): string =>
      `no index serves the filter ${filter} of test_wide_things with the sort name or weight: add code to filtered`;
    expect(found).toEqual([
      // Its index has no place for the values that are left.
      'no index serves the filter codeNot of test_wide_things, which needs one on ("code", "thingID")',
      // One on ("name", "thingID") would not serve it either.
      'no index serves the filter nameLonger of test_wide_things, whose condition is SQL',
      // Nor one that carries the column.
      'no index serves the filter stockModulo of test_wide_things, whose condition is SQL',
      without('codeNot'),
      without('codeExists'),
      'no index serves the filter stockMax of test_wide_things with the sort name or weight: add stock to filtered',
      'no index serves the filter lowMax of test_wide_things with the sort name or weight: add low to filtered',
    ]);
  });
});
