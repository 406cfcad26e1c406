import { beforeEach, describe, expect, it } from '@jest/globals';
import type { FileFormat } from '#server/import/file-rows.js';
import type { ImportResult } from '#server/import/import-rows.js';
import { InvalidRowsError } from '#server/import/invalid-rows.js';
import { startWith } from '../list/migrated.js';
import { Random } from '#server/testing/random.js';
import { imported } from '#server/testing/load-rows.js';
import { exported } from './exported.js';
import { Blank, BlanksModule } from './nullable.fixture.js';
import { shared } from '#server/testing/shared.js';

const OBJECTS = 300;

const TEXTS = ['', ' ', '"', '""', ',', ',"",', '\n', '"\n"', 'a "b", c\nd', '\\N', 'null', 'ä🌳'];

/** Values of each column, besides null. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  text: TEXTS,
  short: TEXTS,
  name: TEXTS.filter((text) => text !== ''),
  integer: [0, -1],
  bigint: ['9223372036854775807'],
  uuid: ['123e4567-e89b-12d3-a456-426614174000'],
  decimal: ['0', '1.50'],
  double: [0, 1e-7],
  boolean: [true, false],
  day: ['2024-02-29'],
  time: ['2026-01-01T00:00:00.120Z'],
  grade: ['GOOD', 'BAD'],
  texts: [[], ['"'], [' ', ',\n']],
  integers: [[], [0]],
  json: [{}, [], { '': '' }, ['""', '\n']],
};

const service = shared(() => startWith(BlanksModule));

beforeEach(() => service.dataSource.query('DELETE FROM test_blanks'));

async function load(text: string, format: FileFormat = 'csv'): Promise<ImportResult> {
  const bytes = Buffer.from(text);
  // As a file is read: a chunk may end within a character.
  function* chunks(): Generator<Buffer> {
    for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
  }
  const metadata = service.dataSource.getMetadata(Blank);
  return imported(service.dataSource, metadata, format, chunks(), { allowInvisible: true });
}

const dump = (format: FileFormat): Promise<string> =>
  exported(service.dataSource, service.dataSource.getMetadata(Blank), format);

const rows = () =>
  service.dataSource.query<Record<string, unknown>[]>(
    'SELECT * FROM test_blanks ORDER BY "blankID"',
  );

/** Writes objects with any values and nulls, not through an import. */
async function write(): Promise<void> {
  const random = new Random('values of nullable columns');
  const objects = Array.from({ length: OBJECTS }, (_, at) => ({
    blankID: `${random.pick(TEXTS)}${at}`,
    given: random.pick(TEXTS),
    ...Object.fromEntries(
      Object.entries(VALUES).map(([field, values]) => [
        field,
        random.chance(0.3) ? null : random.pick(values),
      ]),
    ),
  }));
  const columns = ['blankID', 'given', ...Object.keys(VALUES)].map((name) => `"${name}"`).join();
  await service.dataSource.query(
    `INSERT INTO test_blanks (${columns})
     SELECT ${columns} FROM json_populate_recordset(NULL::test_blanks, $1)`,
    [JSON.stringify(objects)],
  );
}

describe('What may be null', () => {
  it.each(['csv', 'ndjson'] as const)('comes back from an export as %s', async (format) => {
    await write();
    const [before, file] = [await rows(), await dump(format)];
    const unchanged = { inserted: 0, updated: 0, unchanged: OBJECTS, deleted: 0 };
    expect(await load(file, format)).toMatchObject(unchanged);
    await service.dataSource.query('DELETE FROM test_blanks');
    expect(await load(file, format)).toMatchObject({ inserted: OBJECTS });
    const withoutTime = (row: Record<string, unknown>) => ({ ...row, updatedAt: null });
    expect((await rows()).map(withoutTime)).toEqual(before.map(withoutTime));
  });

  it('is empty in quotes where it can be, and else null', async () => {
    const fields = ['given', ...Object.keys(VALUES), 'createdAt'];
    const file = (cell: string) =>
      `blankID,${fields.join()}\r\n\r\n"x,""\n",given,${fields.slice(1).fill(cell).join()}\r\n`;
    const isEmpty = { text: '', short: '' };
    const none = Object.fromEntries(Object.keys(VALUES).map((field) => [field, null]));
    for (const [cell, expected] of [
      ['""', { ...none, ...isEmpty }],
      ['', none],
      ['""', { ...none, ...isEmpty }],
    ] as const) {
      await load(file(cell));
      expect(await rows()).toMatchObject([{ ...expected, createdAt: expect.any(Date) }]);
    }
    // A file from elsewhere that quotes everything.
    expect(await load('"blankID","text","integer"\n"x,""\n","",""')).toMatchObject({
      unchanged: 1,
    });
    expect(await load('blankID,given\ny,""\n')).toMatchObject({ inserted: 1 });
  });

  it.each([
    ['blankID,given\nx,\n', 'line 2, column given: must be given'],
    ['blankID,given\n"",x\n', 'line 2, column blankID: must be given'],
  ])('is refused where it may not be: %j', async (file, problem) => {
    const error = await load(file).catch((reason: unknown) => reason);
    expect((error as InvalidRowsError).lines()).toEqual([problem]);
  });

  it.each(['integer', 'time', 'name', 'grade', 'texts'])(
    'is not an empty text of %s in NDJSON',
    async (field) => {
      const attempt = load(JSON.stringify({ blankID: 'x', given: 'x', [field]: '' }), 'ndjson');
      await expect(attempt).rejects.toThrow(InvalidRowsError);
    },
  );
});
