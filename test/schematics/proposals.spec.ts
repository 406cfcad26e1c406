import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namesOf } from '../../packages/schematics/resource/names.js';
import { proposal } from '../../packages/schematics/resource/sample.js';
import { flagsOf } from '#server/resource/filter-forms.js';
import type { Target } from '../../packages/schematics/resource/write/resource.js';

const target = (identifier: string, more: Partial<Target> = {}): Target => ({
  entity: 'Some',
  identifier,
  identifierType: 'text',
  module: '../some.js',
  enums: [],
  isExternal: false,
  ...more,
});
const RESOURCES = new Map([
  ['brands', target('brandID')],
  ['categories', target('categoryID', { parent: 'parentID' })],
  ['themes', target('id', { identifierType: 'integer', parent: 'parent_id' })],
  ['part_categories', target('id', { identifierType: 'integer' })],
  ['remotes', target('id', { identifierType: 'integer', isExternal: true })],
]);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalogue-proposals-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** The lines that are printed for rows: those of CSV or NDJSON as a text, those of NDJSON also as objects. */
async function proposed(rows: string | readonly object[], number = false): Promise<string[]> {
  const text = typeof rows === 'string' ? rows : rows.map((row) => JSON.stringify(row)).join('\n');
  const file = join(folder, text.startsWith('{') ? 'things.ndjson' : 'things.csv');
  await writeFile(file, text);
  const { lines } = await proposal(file, namesOf('things', undefined), RESOURCES, { number });
  return lines.map((line) => line.trim());
}

/** Rows with an identifier and the given values. */
const ofValues = (name: string, values: readonly unknown[]): object[] =>
  values.map((value, at) => ({ thingID: `t${at}`, [name]: value }));

/** As many values as there are, over and over. */
const repeated = (count: number, ...values: unknown[]): unknown[] =>
  Array.from({ length: count }, (_, at) => values[at % values.length]);

describe('Of the rows of a file,', () => {
  it.each<[string, unknown[], string]>([
    ['year', [1970, 1978, 1999], 'year:integer:interval:sort'],
    ['born', ['2026-01-01', '2026-01-02'], 'born:date:interval:sort'],
    ['at', ['2026-01-01T00:00:00Z', null], 'at:date-time:null:interval:sort'],
    ['area', [180, 95.5, 0.1], 'area:double:interval:sort'],
    ['area', [180, 5_000_000_000], 'area:double:interval:sort'],
    ['area', ['180', '95.50'], 'area:decimal:interval:sort'],
    ['unitPrice', [180, 95.5], 'unitPrice:decimal:interval:sort'],
  ])('numbers and dates are sorted by, and stay numbers: %s %j', async (name, values, line) => {
    expect(await proposed(ofValues(name, values))).toContain(line);
  });

  it.each([
    ['n', ['5', '5.0', '1e3'], 'n:integer:interval:sort'],
    ['n', ['9007199254740993', '1'], 'n:bigint:interval:sort'],
    ['n', ['100.000000000000001', '1'], 'n:decimal:interval:sort'],
    ['n', ['0.10000000000000001', '1e-7'], 'n:double:interval:sort'],
    ['n', ['1e400'], 'n:text:exact:words (codes)'],
    ['price', ['1234567890123456789.10', '123456789012345678901'], 'price:decimal:interval:sort'],
    ['n', ['[1]', '[0.1]'], 'n:json'],
  ])('numbers of JSON keep their digits: %s %j', async (name, numbers, line) => {
    // JavaScript rounds the first two to one number.
    const key = (at: number): string => `900719925474099${2 + at}`;
    const rows = numbers.map((number, at) => `{"thingID":${key(at)},"${name}":${number}}\n`);
    const lines = await proposed(rows.join(''));
    expect(lines).toContain(line);
    expect(lines).toContain('thingID:bigint:identifier');
  });

  it('numbers within objects that an import refuses are refused', async () => {
    await expect(proposed('{"thingID":"a","n":{"a":[9007199254740993]}}\n')).rejects.toThrow(
      'The column n has a number of more than 15 digits within a list or an object in line 1: put it in quotes',
    );
    expect(await proposed('thingID,n\na,"{""a"":9007199254740993}"\n')).toContain(
      'n:text:exact:words (codes)',
    );
  });

  it.each<[string, string[], string]>([
    ['spare', ['t', 'f', 't'], 'spare:boolean:exact:counted'],
    ['spare', ['TRUE', 'FALSE', ''], 'spare:boolean:null:exact:counted'],
    // A letter alone, or beside others, is no boolean.
    ['sex', ['f', 'f'], 'sex:text:exact (single words)'],
    ['sex', ['f', 'm', 'f', 'm'], 'sex:text:several:counted (2 values in 4 rows)'],
  ])('letters are booleans where both are there: %s %j', async (name, values, line) => {
    const rows = values.map((value, at) => `t${at},${value}\n`).join('');
    expect(await proposed(`thingID,${name}\n${rows}`)).toContain(line);
  });

  it.each<[string, unknown[], string]>([
    [
      'few texts of words',
      repeated(12, 'New York', 'San Juan', 'Los Altos', 'Santa Fe', 'Key West'),
      'place:text:several:counted (5 values in 12 rows)',
    ],
    [
      'lists',
      [
        ['a', 'b'],
        ['a', 'b'],
      ],
      'place:texts:several:counted',
    ],
    ['lists whose items are all different', [[1], [2]], 'place:integers:several'],
  ])('what repeats is counted, and not searched: %s', async (_, values, line) => {
    expect(await proposed(ofValues('place', values))).toContain(line);
  });

  it.each<[string, unknown[], string]>([
    [
      'brandID',
      repeated(10, 'b-1', 'b-2'),
      'brandID:reference=brands:several:counted (identifiers of brands: load those first)',
    ],
    [
      'brand_id',
      ['b-1', null],
      'brand_id:reference=brands:null:several (identifiers of brands: load those first)',
    ],
    [
      'theme_id',
      repeated(10, 1, 2),
      'theme_id:reference=themes:several:tree:counted (identifiers of themes: load those first)',
    ],
    [
      'part_cat_id',
      ['7', '8'],
      'part_cat_id:reference=part_categories:several (identifiers of part_categories: load those first)',
    ],
    // Of another type, of an external table, or of no resource.
    ['theme_id', ['x', 'y'], 'theme_id:text:exact (single words)'],
    ['remote_id', [1, 1], 'remote_id:integer:several (identifiers of others)'],
    ['maker_id', repeated(10, 1, 2, 3), 'maker_id:integer:several:counted (identifiers of others)'],
    [
      'parent_id',
      [null, 't0', 't0', 't1'],
      'parent_id:reference=things:null:several:tree (identifiers of things)',
    ],
    // Nothing can be loaded of what is not there.
    ['parent_id', [null, 'other'], 'parent_id:text:null:exact (single words)'],
  ])('identifiers of others are references: %s %j', async (name, values, line) => {
    expect(await proposed(ofValues(name, values))).toContain(line);
  });

  it('one reference is the filter by a tree, that to themselves first', async () => {
    const rows = [
      { thingID: 'a', categoryID: 'c', parentID: null },
      { thingID: 'b', categoryID: 'c', parentID: 'a' },
    ];
    expect(await proposed(rows)).toEqual(
      expect.arrayContaining([
        'categoryID:reference=categories:several (identifiers of categories: load those first)',
        'parentID:reference=things:null:several:tree (identifiers of things)',
      ]),
    );
  });

  it.each<[unknown[], string]>([
    [['a', '', ''], 'code:text (single words; some are empty, the first in line 2)'],
    [['several words', `much longer ${'x'.repeat(500)}`], 'code:text:words (several words)'],
    [['a', 'x'.repeat(501)], 'code:text (too long to be typed)'],
  ])('what keeps a filter away is named: %#', async (values, line) => {
    expect(await proposed(ofValues('code', values))).toContain(line);
  });

  it('a name that is too long for an index says where', async () => {
    expect(await proposed(ofValues('name', ['a', 'x'.repeat(501), 'y'.repeat(600)]))).toContain(
      'name:text:words (a name; some have more than 500 characters, the first in line 2)',
    );
  });
});

describe('A file without a column of unique values', () => {
  const FILE = 'first,mail,thingID\nAda,a@b.c,1\nAda,a@b.c,1\nBen,,1\nCai,d@e.f,1\n';

  it('is refused with the nearest column, and how to number the rows', async () => {
    await expect(proposed(FILE)).rejects.toThrow(
      `. first comes nearest: line 3 repeats a value. To number the rows: npm run resource -- things ${join(folder, 'things.csv')} --number`,
    );
    await expect(proposed('mail\na@b.c\n\n""\na@b.c\n')).rejects.toThrow(
      '. mail comes nearest: line 5 repeats a value. ',
    );
  });

  it('has its rows numbered, beside a column that is called like the identifier', async () => {
    expect(await proposed(FILE, true)).toEqual(
      expect.arrayContaining([
        'thingID:integer:identifier (the number of the row)',
        'first:text:exact (single words)',
        'thingID2:integer:interval:sort',
        `npm run -s catalogue -- import things ${join(folder, 'things.csv')} --map thingID2=thingID --number`,
      ]),
    );
    // In whatever column that name stands.
    const [, number, first] = await proposed('thingID\nx\nx\n', true);
    expect([number, first]).toEqual([
      'thingID:integer:identifier (the number of the row)',
      'thingID2:text:exact (single words)',
    ]);
  });
});

it.each([
  ['text', 'null exact several exists starts words sort counted'],
  ['integer', 'null exact several not exists interval sort counted'],
  ['bigint', 'null exact several not exists interval sort counted'],
  ['uuid', 'null exact several not exists sort counted'],
  ['decimal', 'null exact exists interval sort'],
  ['double', 'null exists interval sort'],
  ['boolean', 'null exact exists counted'],
  ['date', 'null exact exists interval sort'],
  ['date-time', 'null exists interval sort'],
  ['enum', 'null exact several not exists counted'],
  ['reference', 'null exact several not exists tree sort counted'],
  ['texts', 'null several not exists counted'],
  ['integers', 'null several not exists counted'],
  ['json', 'null'],
] as const)('A field of the type %s may have the flags %s', (type, flags) => {
  expect(flagsOf(type).join(' ')).toBe(flags);
});
