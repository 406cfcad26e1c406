import { describe, expect, it } from '@jest/globals';
import type { FileFormat } from '#server/import/file-rows.js';
import { InvalidRowsError } from '#server/import/invalid-rows.js';
import { startWith } from '../list/migrated.js';
import { Random } from '#server/testing/random.js';
import { imported } from '#server/testing/load-rows.js';
import { exported } from './exported.js';
import { Blank, BlanksModule } from './nullable.fixture.js';
import { shared } from '#server/testing/shared.js';

/** How many files are made up. */
const FILES = Number(process.env.RANDOM_FILES ?? 20);

const ENDS = ['\n', '\r\n', '\r'];
const TEXTS = [
  'a',
  'é',
  '"',
  '""',
  ',',
  ';',
  '\n',
  '\r',
  '\r\n',
  ' ',
  '🌳',
  '\\',
  '\\N',
  '\ufeff',
  "'",
];
/** Numbers that the columns keep, and the text that PostgreSQL has for them; `undefined` for those that they do not. */
const NUMBERS = {
  integer: { '5': '5', '-0': '0', '5.5': undefined, '2147483648': undefined, '1e400': undefined },
  decimal: { '1.10': '1.10', '100.000000000000001': '100.000000000000001', '1e-400': undefined },
  double: { '0.1': '0.1', '1e-7': '1e-07', '100.000000000000001': undefined, '1e-400': undefined },
} as const;
type Numeric = keyof typeof NUMBERS;

interface Row {
  readonly blankID: string;
  readonly given: string;
  readonly text: string | null;
  readonly column: Numeric;
  readonly number: string;
}

const service = shared(() => startWith(BlanksModule));

async function load(bytes: Buffer, format: FileFormat, random: Random): Promise<void> {
  function* chunks(): Generator<Buffer> {
    for (let at = 0; at < bytes.length;) {
      const size = 1 + random.below(40);
      yield bytes.subarray(at, at + size);
      at += size;
    }
  }
  await imported(service.dataSource, service.dataSource.getMetadata(Blank), format, chunks());
}

/** What is stored, as PostgreSQL writes it. */
const stored = () =>
  service.dataSource.query<object[]>(
    `SELECT "blankID", given, text, integer::text, decimal::text, double::text
     FROM test_blanks ORDER BY "blankID"`,
  );

/** @param isRefused whether a column does not keep the number of the first row, and perhaps those of others */
function rowsFrom(random: Random, isRefused: boolean): Row[] {
  const text = () => Array.from({ length: random.below(5) }, () => random.pick(TEXTS)).join('');
  return Array.from({ length: 1 + random.below(4) }, (_, at) => {
    const column = random.pick(Object.keys(NUMBERS) as Numeric[]);
    const numbers = Object.entries(NUMBERS[column]);
    const isKept = !isRefused || (at > 0 && random.chance(0.5));
    const [number] = random.pick(numbers.filter(([, value]) => (value !== undefined) === isKept));
    return {
      blankID: `b${at}`,
      given: text(),
      text: random.chance(0.3) ? null : text(),
      column,
      number,
    };
  });
}

/** The text of a file with odd ends, quotes and spaces, and the number of the line of each row. */
function written(rows: readonly Row[], format: FileFormat, random: Random): [string, number[]] {
  let [file, line] = [random.chance(0.3) ? '\ufeff' : '', 1];
  const lines: number[] = [];
  const write = (text: string, isLast = false): void => {
    lines.push(line);
    const end = isLast && random.chance(0.3) ? '' : random.pick(ENDS);
    const empty = end === '' ? '' : Array.from({ length: random.below(2) }, () => '\n').join('');
    // A \n behind a \r would be one end.
    file += text + (end === '\r' && empty !== '' ? `\r\n${empty}` : end + empty);
    line += text.split(/\r\n|\r|\n/).length - 1 + (end === '' ? 0 : 1) + empty.length;
  };
  const quoted = (value: string | null): string => {
    if (value === null) return '';
    const isOdd = value === '' || /[",\r\n]/.test(value) || value.startsWith('\ufeff');
    return isOdd || random.chance(0.5) ? `"${value.replaceAll('"', '""')}"` : value;
  };
  const columns = ['blankID', 'given', 'text', ...Object.keys(NUMBERS)];
  if (format === 'csv') write(columns.map(quoted).join(','));
  for (const [at, { column, number, ...row }] of rows.entries()) {
    const values: Record<string, string | null> = { ...row, [column]: number };
    const space = (): string => random.pick(['', ' ', '\t']);
    const json = Object.entries(values).map(([key, value]) => {
      const text = key === column ? number : JSON.stringify(value);
      return `${space()}"${key}"${space()}:${space()}${text}${space()}`;
    });
    const csv = columns.map((name) => quoted(values[name] ?? null)).join(',');
    write(format === 'csv' ? csv : `{${json.join(',')}}`, at === rows.length - 1);
  }
  return [file, format === 'csv' ? lines.slice(1) : lines];
}

describe('Files with odd ends, quotes and numbers', () => {
  it('are imported and exported as they are, or refused by line and column', async () => {
    const random = new Random('files to import');
    let refused = 0;
    for (let at = 0; at < FILES; at += 1) {
      await service.dataSource.query('DELETE FROM test_blanks');
      const format = random.pick(['csv', 'ndjson'] as const);
      const rows = rowsFrom(random, at % 4 === 0);
      const [file, lines] = written(rows, format, random);
      const valueOf = ({ column, number }: Row): string | undefined =>
        (NUMBERS[column] as Record<string, string | undefined>)[number];
      const bad = rows.flatMap((row, index) =>
        valueOf(row) === undefined ? [`line ${lines[index]}, column ${row.column}: must be `] : [],
      );
      const attempt = load(Buffer.from(file), format, random);
      if (bad.length > 0) {
        const error = await attempt.catch((reason: unknown) => reason);
        const found = error instanceof InvalidRowsError ? error.lines() : error;
        expect([file, found]).toEqual([file, bad.map((line) => expect.stringContaining(line))]);
        refused += 1;
        continue;
      }
      await attempt;
      const expected = rows.map(({ column, number, ...row }) => ({
        ...row,
        ...{ integer: null, decimal: null, double: null },
        [column]: valueOf({ column, number, ...row }),
      }));
      expect([file, await stored()]).toEqual([file, expected]);
      for (const again of ['csv', 'ndjson'] as const) {
        const copy = await exported(
          service.dataSource,
          service.dataSource.getMetadata(Blank),
          again,
        );
        await service.dataSource.query('DELETE FROM test_blanks');
        await load(Buffer.from(copy), again, random);
        expect([copy, await stored()]).toEqual([copy, expected]);
      }
    }
    expect(refused).toBe(Math.ceil(FILES / 4));
  });
});
