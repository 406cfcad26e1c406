import { beforeEach, describe, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import type { FileFormat, ImportFormat } from '#server/import/file-rows.js';
import type { ImportResult } from '#server/import/import-rows.js';
import { InvalidRowsError } from '#server/import/invalid-rows.js';
import { Statements } from '#server/import/statements.js';
import { CommandError } from '#server/command-error.js';
import { sharedService } from '../service.js';
import { imported } from '#server/testing/load-rows.js';
import { exported } from './exported.js';
import { until } from '../until.js';

const service = sharedService();

beforeEach(() =>
  service.dataSource.query('DELETE FROM products; DELETE FROM categories; DELETE FROM brands'),
);

interface Options {
  format?: ImportFormat;
  map?: Record<string, string>;
  set?: Record<string, string>;
  replace?: boolean;
  allowDeletes?: boolean;
  allowInvisible?: boolean;
  number?: true;
  delimiter?: string;
}

/** Imports a file's bytes as the command does. */
async function load(
  resource: string,
  file: string | Buffer,
  { format = 'csv', map = {}, set = {}, ...allowed }: Options = {},
): Promise<ImportResult> {
  return imported(
    service.dataSource,
    service.dataSource.getMetadata(resource),
    format,
    chunks(Buffer.from(file)),
    { ...allowed, map: new Map(Object.entries(map)), set: new Map(Object.entries(set)) },
  );
}

/** The bytes in chunks that split lines and characters. */
function* chunks(bytes: Buffer): Generator<Buffer> {
  const size = Math.max(7, Math.ceil(bytes.length / 1000));
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function dump(resource: string, format: FileFormat = 'ndjson'): Promise<string> {
  return exported(service.dataSource, service.dataSource.getMetadata(resource), format);
}

async function rows(resource: string): Promise<Record<string, unknown>[]> {
  return (await dump(resource))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** The problems that an import of a file reports, as lines. */
async function problems(
  resource: string,
  file: string | Buffer,
  options?: Options,
): Promise<string[]> {
  const error = await load(resource, file, options).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(InvalidRowsError);
  expect(await rows(resource)).toEqual([]);
  return (error as InvalidRowsError).lines();
}

const counts = (inserted: number, updated: number, unchanged: number, deleted: number) => ({
  inserted,
  updated,
  unchanged,
  deleted,
  leftOut: [],
});

describe('An import', () => {
  it('inserts, updates and leaves alone by identifier, and says how many', async () => {
    const file = 'brandID,name\na,Ä\nb,"B, ""b"""\n';
    expect(await load('brands', file)).toEqual(counts(2, 0, 0, 0));
    const [first, second] = await rows('brands');
    expect(await load('brands', `${file}c,C\n`.replace('Ä', 'A'))).toEqual(counts(1, 1, 1, 0));
    const [a, b, c] = await rows('brands');
    expect([a, b, c].map((row) => row?.name)).toEqual(['A', 'B, "b"', 'C']);
    expect(a?.createdAt).toBe(first?.createdAt);
    expect(a?.updatedAt).not.toBe(first?.updatedAt);
    expect(b?.updatedAt).toBe(second?.updatedAt);
  });

  it('neither locks nor writes an object that does not change', async () => {
    await load('brands', 'brandID,name\na,A\nb,B\nc,C\n');
    const file = 'brandID,name\na,A\nb,B\nc,D\nd,D\n';
    expect(await load('brands', file, { replace: true })).toEqual(counts(1, 1, 2, 0));
    // A lock is written into the row.
    const locked = await service.dataSource.query<unknown[]>(
      `SELECT FROM brands WHERE "brandID" IN ('a', 'b') AND xmax <> 0`,
    );
    expect(locked).toEqual([]);
  });

  it('links objects that are there to new ones', async () => {
    await load('categories', 'categoryID,name\na,A\n');
    const file = 'categoryID,parentID,name\na,b,A\nb,,B\n';
    expect(await load('categories', file)).toEqual(counts(1, 1, 0, 0));
    expect((await rows('categories')).map(({ parentID }) => parentID)).toEqual(['b', null]);
  });

  it('deletes what the file lacks with --replace alone', async () => {
    await load('brands', 'brandID,name\na,A\nb,B\n');
    const options = { replace: true, allowDeletes: true };
    expect(await load('brands', 'brandID,name\nb,B\n', options)).toEqual(counts(0, 0, 1, 1));
    expect((await rows('brands')).map(({ brandID }) => brandID)).toEqual(['b']);
  });

  it('asks before it deletes more than a fifth of the objects', async () => {
    const file = (count: number) =>
      `brandID,name\n${Array.from({ length: count }, (_, at) => `${at},B\n`).join('')}`;
    await load('brands', file(10));
    await expect(load('brands', `${file(7)}new,B\n`, { replace: true })).rejects.toThrow(
      'Nothing was loaded: the file lacks 3 of 10 objects, which is more than a fifth; --allow-deletes deletes them',
    );
    expect(await rows('brands')).toHaveLength(10);
    expect(await load('brands', file(8), { replace: true })).toEqual(counts(0, 0, 8, 2));
    const options = { replace: true, allowDeletes: true };
    expect(await load('brands', file(1), options)).toEqual(counts(0, 0, 1, 7));
  });

  it('counts what the file lacks by a join, whatever the number of its rows', async () => {
    const metadata = service.dataSource.getMetadata('brands');
    const plan = await service.dataSource.transaction(async (manager) => {
      await manager.query(Statements.createStaging(metadata));
      const statements = new Statements(service.dataSource, metadata, [], true);
      return manager.query<object[]>(`EXPLAIN ${statements.deletions()}`);
    });
    expect(JSON.stringify(plan)).toMatch(/Anti Join/);
  });

  it('refuses to delete everything for a file without a row', async () => {
    await load('brands', 'brandID,name\na,A\n');
    await expect(load('brands', 'brandID,name\n', { replace: true })).rejects.toThrow(
      'The file has no row, and with --replace it would delete everything',
    );
    await expect(load('brands', '', { replace: true, format: 'ndjson' })).rejects.toThrow(
      CommandError,
    );
    expect(await rows('brands')).toHaveLength(1);
  });

  it('refuses to delete what is in use, by name', async () => {
    await load('brands', 'brandID,name\na,A\nb,B\n');
    await load('products', 'productID,type,brandID\np,SERVICE,a\n');
    const options = { replace: true, allowDeletes: true };
    await expect(load('brands', 'brandID,name\nb,B\n', options)).rejects.toThrow(
      /^Nothing was loaded: an object that the file lacks is in use\. .*\(a\)/,
    );
    expect(await rows('brands')).toHaveLength(2);
  });

  it('keeps what the file does not give', async () => {
    await load('products', 'productID,type,name,stock\np,SERVICE,Name,3\n');
    await load('products', 'productID,stock\np,4\n');
    await load(
      'products',
      '{"productID":"p","refID":"r"}\n\n{"productID":"q","type":"DIGITAL"}\n',
      { format: 'ndjson' },
    );
    const [p, q] = await rows('products');
    expect(p).toMatchObject({ type: 'SERVICE', name: 'Name', stock: 4, refID: 'r' });
    expect(q).toMatchObject({ type: 'DIGITAL', name: null, refID: null });
  });

  it('keeps what another session writes to the same object, if the file does not give it', async () => {
    await load('products', 'productID,type,name,stock\np,SERVICE,Name,3\n');
    const runner = service.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query(`UPDATE products SET name = 'Other', type = 'DIGITAL'`);
    const loaded = load('products', 'productID,stock\np,4\n');
    await until(async () => {
      const waiting = await service.dataSource.query<unknown[]>(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return waiting.length === 1;
    });
    await runner.commitTransaction();
    await runner.release();
    expect(await loaded).toEqual(counts(0, 1, 0, 0));
    expect((await rows('products'))[0]).toMatchObject({ name: 'Other', type: 'DIGITAL', stock: 4 });
  });

  it('takes fields from other columns and constants, and says what it leaves out', async () => {
    const result = await load('products', 'sku,title,year,type\n1,One,1999,toy\n', {
      map: { productID: 'sku', refID: 'sku', name: 'title' },
      set: { type: 'PHYSICAL', imageURL: '' },
    });
    expect(result.leftOut).toEqual(['year', 'type']);
    expect(await rows('products')).toMatchObject([
      { productID: '1', refID: '1', name: 'One', type: 'PHYSICAL', imageURL: null },
    ]);
  });

  it('gives a column that is mapped to no other field, though one has its name', async () => {
    await load('brands', 'id,createdAt\n1,yesterday\n', {
      map: { brandID: 'id', name: 'createdAt' },
    });
    expect(await rows('brands')).toMatchObject([{ brandID: '1', name: 'yesterday' }]);
  });

  it('reads a tree in any order', async () => {
    await load('categories', 'categoryID,parentID,name\nc,b,C\nb,a,B\na,,A\n');
    expect((await rows('categories')).map(({ parentID }) => parentID)).toEqual([null, 'a', 'b']);
  });

  it('reads a file that gzip has packed, one with a byte order mark, and CRLF', async () => {
    await load('brands', gzipSync('brandID,name\na,A\n'));
    await load('brands', '\ufeffbrandID,name\r\nb,B\r\n\r\n');
    await load('brands', gzipSync('{"brandID":"c","name":"C"}'), { format: 'ndjson' });
    expect((await rows('brands')).map(({ name }) => name)).toEqual(['A', 'B', 'C']);
  });

  it('numbers the rows of a file where no objects are, also beside another', async () => {
    const both = [1, 2].map(() => load('brands', 'name\nA\nB\n', { number: true }));
    const results = await Promise.allSettled(both);
    expect(results.find(({ status }) => status === 'fulfilled')).toMatchObject({
      value: counts(2, 0, 0, 0),
    });
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: new CommandError(
        '--number would overwrite objects of brands with the rows of these numbers: add --replace if the file has all of them',
      ),
    });
    expect((await rows('brands')).map(({ brandID, name }) => [brandID, name])).toEqual([
      ['1', 'A'],
      ['2', 'B'],
    ]);
  });

  it('numbers rows beside a column of the name that is mapped to another field', async () => {
    const map = { name: 'brandID' };
    await load('brands', 'brandID\nA\nB\n', { number: true, map });
    expect(await rows('brands')).toMatchObject([
      { brandID: '1', name: 'A' },
      { brandID: '2', name: 'B' },
    ]);
  });

  it('takes turns with another of the same resource', async () => {
    // In opposite orders: without the lock, each would wait for a row of the other.
    const rows = Array.from({ length: 20_000 }, (_, at) => `b${at},B`);
    const file = (lines: string[]) => `brandID,name\n${lines.join('\n')}\n`;
    const results = await Promise.all(
      [rows, rows.toReversed(), rows].map((lines) => load('brands', file(lines))),
    );
    expect(results.map(({ inserted }) => inserted).sort((one, other) => one - other)).toEqual([
      0, 0, 20_000,
    ]);
  });
});

describe('An export', () => {
  it.each(['csv', 'ndjson'] as const)('as %s is imported again as it was', async (format) => {
    await load('brands', 'brandID,name\n"a,\n""b""",B\n', { allowInvisible: true });
    await load(
      'products',
      '{"productID":"p\\\\\\t","type":"SERVICE","name":"A\\n\\"b\\" \\u0001 😀","price":"19.90","currency":"EUR","stock":0,"brandID":"a,\\n\\"b\\"","createdAt":"2026-01-01T00:00:00.120Z"}\n{"productID":"q","type":"DIGITAL"}\n',
      { format: 'ndjson', allowInvisible: true },
    );
    const before = await rows('products');
    expect(before).toHaveLength(2);
    const file = await dump('products', format);
    const options = { format, allowInvisible: true };
    expect(await load('products', file, options)).toMatchObject({ unchanged: 2, updated: 0 });
    await service.dataSource.query('TRUNCATE products CASCADE');
    await load('products', file, options);
    const withoutTime = (row: Record<string, unknown>) => ({ ...row, updatedAt: null });
    expect((await rows('products')).map(withoutTime)).toEqual(before.map(withoutTime));
  });
});

describe('Every end of line', () => {
  const NAMES = ['A', 'B\r\nb', 'C\rc', 'D\nd', 'E'];

  it.each([
    ['\\n, then \\r\\n', 'brandID,name\n0,A\r\n1,"B\r\nb"\r\n2,"C\rc"\r\n3,"D\nd"\r\n4,E\r\n'],
    ['\\r\\n, then \\n', 'brandID,name\r\n0,A\n1,"B\r\nb"\n2,"C\rc"\n3,"D\nd"\r\n4,E\n'],
    ['\\r alone', 'brandID,name\r0,A\r1,"B\r\nb"\r2,"C\rc"\r3,"D\nd"\r4,E'],
    ['a mixture', '\ufeffbrandID,name\r0,"A"\r\n\n\r1,"B\r\nb"\n2,"C\rc"\r3,"D\nd"\r\n\r\n4,"E"\r'],
  ])('ends a row of CSV outside of quotes: %s', async (_, file) => {
    expect(await load('brands', file)).toEqual(counts(5, 0, 0, 0));
    expect((await rows('brands')).map(({ brandID, name }) => [brandID, name])).toEqual(
      NAMES.map((name, at) => [String(at), name]),
    );
  });

  it('ends the identifier of a file with one column', async () => {
    await load('brands', 'brandID,name\nb-1,A\n');
    expect(await load('brands', 'brandID\nb-1\r\n')).toEqual(counts(0, 0, 1, 0));
  });

  it('ends an object of NDJSON', async () => {
    const lines = ['a', 'b', 'c', 'd'].map((id) => JSON.stringify({ brandID: id, name: id }));
    const [a, b, c, d] = lines;
    expect(await load('brands', `${a}\r${b}\r\n\n${c}\n\r${d}\r`, { format: 'ndjson' })).toEqual(
      counts(4, 0, 0, 0),
    );
  });

  it.each([
    ['csv', 'brandID,name\r0,A\r\n\n1,"\r\n\r"\r,C\n'],
    [
      'ndjson',
      '\r{"brandID":"0",\t"name":"A"}\r\n{"brandID":"1","name":"B"}\n\n\r\r\n{"brandID":"","name":"C"}\r',
    ],
    [
      'json',
      '[\r{"brandID":"0",\n"name":"A"},\r\n{"brandID":"1","name":"B"},\r{"brandID":\r"","name":"C"}\r]',
    ],
  ] as const)('counts as a line: %s', async (format, file) => {
    const line = { csv: 7, ndjson: 7, json: 5 }[format];
    expect(await problems('brands', file, { format })).toEqual([
      expect.stringMatching(new RegExp(`^line ${line}, column brandID: must be `)),
    ]);
  });
});

describe('A file from elsewhere', () => {
  it.each([
    [';', 'brandID;name\n"1;";A, B\n'],
    ['\t', 'brandID\tname\n"1;"\tA, B\n'],
    ['|', 'brandID|name\r\n1;|A, B\r\n'],
  ])('is read with another delimiter: %j', async (delimiter, file) => {
    expect(await load('brands', file, { delimiter })).toEqual(counts(1, 0, 0, 0));
    expect(await rows('brands')).toMatchObject([{ brandID: '1;', name: 'A, B' }]);
  });

  it.each([
    [
      'another delimiter',
      'brandID;name\n1;A\n',
      `line 1: the header has one column: if ";" separates them, give --delimiter ';'`,
    ],
    [
      'another delimiter, and commas',
      'brandID\tname, short\tlong\n1\tA\tB\n',
      'line 1: the header has 2 columns: if "\\t" separates them, give --delimiter tab',
    ],
    [
      'UTF-16',
      Buffer.from('\ufeffbrandID,name\n1,A\n', 'utf16le'),
      'line 1: is UTF-16, not UTF-8: convert the file, as with iconv -f utf-16 -t utf-8',
    ],
    [
      'UTF-16 without a mark',
      Buffer.from('brandID,name\n1,A\n', 'utf16le'),
      'line 1: is UTF-16LE, not UTF-8: convert the file, as with iconv -f utf-16le -t utf-8',
    ],
    [
      'UTF-16 of the other order',
      Buffer.from('\ufeffbrandID,name\n1,A\n', 'utf16le').swap16(),
      'line 1: is UTF-16, not UTF-8: convert the file, as with iconv -f utf-16 -t utf-8',
    ],
    [
      'Latin-1',
      Buffer.from('brandID,name\r\n1,A\r\n2,Müller\r\n', 'latin1'),
      'line 3, column name: is not UTF-8: convert the file, as with iconv -f windows-1252 -t utf-8',
    ],
    [
      'Latin-1 behind characters of UTF-8',
      Buffer.concat([
        Buffer.from('brandID,name\n1,ä\ufffd€😀\n2,M'),
        Buffer.from([0xfc]),
        Buffer.from('ller\n'),
      ]),
      'line 3, column name: is not UTF-8: convert the file, as with iconv -f windows-1252 -t utf-8',
    ],
  ])('is refused with the way out: %s', async (_, file, problem) => {
    expect(await problems('brands', file)).toEqual([problem]);
  });

  it('has a delimiter only as CSV', async () => {
    await expect(load('brands', '', { format: 'ndjson', delimiter: ';' })).rejects.toThrow(
      '--delimiter is for CSV, and the file is read as ndjson',
    );
  });
});

describe('A number in JSON', () => {
  it.each([
    ['name', '1.10', '1.10'],
    ['name', '1e400', '1e400'],
    ['productID', '12345678901234567890', '12345678901234567890'],
    ['price', '100.0010', '100.0010'],
    ['price', '1e2', '100'],
    ['stock', '5.0', 5],
    ['stock', '-0', 0],
  ])('is read by its text: %s of %s', async (field, number, expected) => {
    const file = `{"productID": "p" , "type":"SERVICE","currency":"EUR",\t"${field}":${number}}`;
    await load('products', file.replace(/"productID": "p" ,(?=.*productID)/, ''), {
      format: 'ndjson',
    });
    expect(await rows('products')).toMatchObject([{ [field]: expected }]);
  });

  it.each([
    ['price', '1e-400', 'line 2, column price: must be a decimal number such as 19.99, not 1e-400'],
    ['price', '1e400', 'line 2, column price: must be a decimal number such as 19.99, not 1e400'],
    [
      'stock',
      '4.99999999999999999999',
      /^line 2, column stock: must be an integer .*, not 4.99999999999999999999$/,
    ],
    ['stock', '01', /^line 2, column stock: is not JSON at "1/],
    ['stock', '1.', /^line 2, column stock: is not JSON at "."?/],
    ['stock', '1,"stock":1', 'line 2, column stock: has the key "stock" twice'],
    ['name', '{"a":[{"b":1,"b":1}]}', 'line 2, column name: has the key "b" twice'],
    ['name', '['.repeat(101) + ']'.repeat(101), 'line 2, column name: has more than 100 levels'],
  ])('is refused by line and column: %s of %s', async (field, number, problem) => {
    const file = `\n{"productID":"p","type":"SERVICE","${field}":${number}}`;
    for (const [format, text] of [
      ['ndjson', file],
      ['json', `[${file}]`],
    ] as const) {
      const [first] = await problems('products', text, { format });
      if (typeof problem === 'string') expect(first).toBe(problem);
      else expect(first).toMatch(problem);
    }
  });
});

describe('A list in JSON', () => {
  const objects = [
    { brandID: 'a', name: 'A "b\\", [c] {d}' },
    { name: 'ä,]😀\n', brandID: 'b\\' },
    { brandID: 'c', name: '}' },
  ];

  it.each([
    ['on one line', JSON.stringify(objects)],
    ['on many lines', `\n${JSON.stringify(objects, undefined, 2)}\r\n\n`],
  ])('is imported %s', async (_, file) => {
    expect(await load('brands', file, { format: 'json' })).toMatchObject({ inserted: 3 });
    const lines = (await dump('brands')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject(objects);
  });

  it('may be empty', async () => {
    expect(await load('brands', ' [ ] ', { format: 'json' })).toMatchObject({ inserted: 0 });
  });

  it.each([
    ['{"brandID":"a"}', 'line 1: is not a list in JSON'],
    ['', 'line 1: ends within the list'],
    ['[\n{"brandID":"a","name":"A"},\n', 'line 3: ends within the list'],
    ['[{"brandID":"a","name":"A"},]', 'line 1: lacks an object'],
    ['[,{"brandID":"a","name":"A"}]', 'line 1: lacks an object'],
    ['[{"brandID":"a","name":"A"}]\n{}', 'line 2: follows the end of the list'],
    [
      '[{"brandID":"a","name":"A"},\n\n 5,{"brandID":"b","name":"B"}]',
      'line 3: is not a JSON object',
    ],
    ['[{"brandID":"a","name":"A"}\n{"brandID":"b","name":"B"}]', 'line 1: is not a JSON object'],
    [
      '[{"brandID":"a",\n"name":"A"},{\n"brandID":\n[5.5e30],"name":"B"}]',
      'line 2, column brandID: must be text of 1 to 100 characters, not [5.5e30]',
    ],
    [`[{"brandID":"${'x'.repeat(1_200_000)}`, 'line 1: is longer than 1000000 characters'],
  ])('is refused by its line: %s', async (file, problem) => {
    expect(await problems('brands', file, { format: 'json' })).toEqual([problem]);
  });
});

describe('A bad file is refused by line and column, and nothing is loaded', () => {
  it('cells', async () => {
    expect(
      await problems(
        'products',
        [
          'productID,type,price,currency,stock,createdAt,name',
          'good,PHYSICAL,1.50,EUR,1,2026-01-01T00:00:00Z,N',
          'two,FOO,1,EUR,,,"\nlines"',
          ',PHYSICAL,1e3,EUR,1.5,2026-02-30T00:00:00Z,',
          `${'x'.repeat(101)},PHYSICAL,-1,EUR,2147483648,1767225600,${'x'.repeat(501)}`,
          'short,PHYSICAL',
          'old,PHYSICAL,1,EUR,1,0000-12-31T23:59:59Z,N',
        ].join('\n'),
      ),
    ).toEqual([
      'line 3, column type: must be one of PHYSICAL, DIGITAL, SERVICE, not "FOO"',
      'line 5, column productID: must be given',
      'line 5, column price: must be a decimal number such as 19.99, not "1e3"',
      'line 5, column stock: must be an integer between -2147483648 and 2147483647, not "1.5"',
      'line 5, column createdAt: must be an RFC 3339 time with a zone, such as 2026-11-21T12:00:00Z, not "2026-02-30T00:00:00Z"',
      `line 6, column productID: must be text of 1 to 100 characters, not "${'x'.repeat(59)}…`,
      `line 6, column name: must be text of 1 to 500 characters, not "${'x'.repeat(59)}…`,
      'line 6, column stock: must be an integer between -2147483648 and 2147483647, not "2147483648"',
      'line 6, column createdAt: must be an RFC 3339 time with a zone, such as 2026-11-21T12:00:00Z, not "1767225600"',
      'line 6, column price: null breaks the rule products_price: price >= 0 AND price < 1e15 AND scale(price) <= 4',
      'line 7: has 2 cells, but the header has 7',
      'line 8, column createdAt: must be an RFC 3339 time with a zone, such as 2026-11-21T12:00:00Z, not "0000-12-31T23:59:59Z"',
    ]);
  });

  it('values of NDJSON', async () => {
    expect(
      await problems(
        'products',
        [
          '{"productID":"a","type":"SERVICE","stock":"5"}',
          '[1]',
          '{"productID":',
          '{"productID":12345678901234567890,"type":"SERVICE"}',
          '{"productID":{"a":1},"type":null,"stock":5.5,"price":0.1,"currency":"EUR"}',
          '{"productID":"","type":"SERVICE","foo":1}',
          '{"productID":"a\\u0000","type":"SERVICE","name":"\\ud800"}',
        ].join('\n'),
        { format: 'ndjson' },
      ),
    ).toEqual([
      'line 2: is not a JSON object',
      'line 3, column productID: ends too early',
      'line 5, column productID: must be text of 1 to 100 characters, not {"a":1}',
      'line 5, column type: must be given',
      'line 5, column stock: must be an integer between -2147483648 and 2147483647, not 5.5',
      expect.stringMatching(/^line 6, column foo: names no field of products; its fields are /),
      'line 7, column productID: must be text of 1 to 100 characters, not "a\\u0000"',
      'line 7, column name: must be text of 1 to 500 characters, not "\\ud800"',
    ]);
  });

  it.each([
    ['b-1 ', 'white space at its ends', '"b-1 "'],
    [' b-1', 'white space at its ends', '" b-1"'],
    ['b-1\r', 'U+000D, which is not seen', '"b-1\\r"'],
    ['b\u00a01', 'U+00A0, which is not seen', '"bU+00A01"'],
    ['b\u200b-1', 'U+200B, which is not seen', '"bU+200B-1"'],
    ['b\u202e-1', 'U+202E, which is not seen', '"bU+202E-1"'],
    ['\ufeffb-1', 'U+FEFF, which is not seen', '"U+FEFFb-1"'],
    ['b\u{e0061}', 'U+E0061, which is not seen', '"bU+E0061"'],
  ])('an identifier that one sees as another: %j', async (brandID, what, shown) => {
    const row = { brandID, name: ' \u00a0name ' };
    const file = `{"brandID":"é 🌳-ก็","name":"A"}\n${JSON.stringify(row)}`;
    expect(await problems('brands', file, { format: 'ndjson' })).toEqual([
      `line 2, column brandID: must be without ${what} (--allow-invisible takes it), not ${shown}`,
    ]);
    await load('brands', file, { format: 'ndjson', allowInvisible: true });
    expect(await rows('brands')).toContainEqual(expect.objectContaining(row));
  });

  it('references to nothing, repeats, rules and what a new object lacks, beside bad cells', async () => {
    expect(
      await problems(
        'products',
        '{"productID":"a","type":"SERVICE","brandID":"none"}\n' +
          '{"productID":"b","type":"SERVICE","categoryID":"none","stock":"x"}\n' +
          '{"productID":"a","type":"SERVICE"}\n' +
          '{"productID":"c","price":"1"}\n' +
          '{"productID":"d","type":"SERVICE","currency":"euro"}\n' +
          '{"productID":"e","type":"SERVICE","currency":"eur"}\n' +
          '{"productID":"f","type":"SERVICE","currency":"EUR","price":"0.12345"}\n',
        { format: 'ndjson' },
      ),
    ).toEqual([
      'line 1, column brandID: there is no brands object none',
      'line 2, column stock: must be an integer between -2147483648 and 2147483647, not "x"',
      'line 2, column categoryID: there is no categories object none',
      'line 3, column productID: repeats a, which line 1 has already',
      'line 4, column type: must be given for c, which is new',
      'line 4: c breaks the rule products_price_currency: price IS NULL OR currency IS NOT NULL',
      'line 5, column currency: must be text of 1 to 3 characters, not "euro"',
      "line 6, column currency: e breaks the rule products_currency: currency ~ '^[A-Z]{3}$'",
      'line 7, column price: f breaks the rule products_price: price >= 0 AND price < 1e15 AND scale(price) <= 4',
    ]);
  });

  it('names the column of the file, not the field that it is mapped to', async () => {
    expect(
      await problems('products', 'sku,theme,old\n1,x,y\n', {
        map: { productID: 'sku', categoryID: 'theme', stock: 'old' },
        set: { type: 'PHYSICAL' },
      }),
    ).toEqual([
      'line 2, column old: must be an integer between -2147483648 and 2147483647, not "y"',
      'line 2, column theme: there is no categories object x',
    ]);
  });

  it('a category below itself or below none', async () => {
    expect(await problems('categories', 'categoryID,parentID,name\na,a,A\nb,none,B\n')).toEqual([
      'line 2: a breaks the rule categories_parent: "parentID" <> "categoryID"',
      'line 3, column parentID: there is no categories object none',
    ]);
  });

  it('categories that go round in a circle, by name', async () => {
    const file = 'categoryID,parentID,name\na,c,A\nb,a,B\nc,b,C\nd,,D\n';
    await expect(load('categories', file)).rejects.toThrow(
      'Nothing was loaded: these would be below themselves by parentID: a, b, c',
    );
    expect(await rows('categories')).toEqual([]);
  });

  it('the first twenty of many', async () => {
    const lines = Array.from({ length: 5000 }, (_, at) => `p${at},NONE`);
    const found = await problems('products', `productID,type\n${lines.join('\n')}\n`);
    expect(found).toHaveLength(20);
    expect(found[19]).toMatch(/^line 21, column type/);
  });

  it.each([
    ['a column that names no field', 'brandID,name,foo\n', /^line 1, column foo: names no field/],
    ['commas within a name', 'brandID,"a,b,c"\n', /^line 1, column a,b,c: names no field/],
    ['no column for the identifier', 'name\nA\n', /^line 1: there is no column for brandID$/],
    ['a column twice', 'brandID,name,name\n', /^line 1, column name: stands twice/],
    ['nothing at all', '', /^line 1: there is no header$/],
    [
      'a quote that does not end',
      'brandID,name\na,"b\n',
      /^line 2, column name: begins with a quote that is not closed$/,
    ],
    ['a quote within a cell', 'brandID,name\na,b"c\n', /^line 2, column name: has a quote within/],
    [
      'a quote within quotes',
      'brandID,name\r\na,"b" c\n',
      /^line 2, column name: has " " behind the closing quote/,
    ],
    ['a quote in the header', 'brandID,na"me\n', /^line 1: has a quote within/],
    [
      'a row without an end',
      `brandID,name\na,A\nb,"${'x\n'.repeat(600_000)}`,
      /^line 3, column name: is longer than 1000000 characters; is a quote not closed\?$/,
    ],
    [
      'no UTF-8',
      Buffer.from('brandID,name\na,b\nc,\xff\n', 'latin1'),
      /^line 3, column name: is not/,
    ],
    [
      'half a character',
      Buffer.from('brandID,name\na,\xc3', 'latin1'),
      /^line 2, column name: ends w/,
    ],
  ])('%s', async (_, file, message) => {
    expect(await problems('brands', file)).toEqual([expect.stringMatching(message)]);
  });

  it('a line of NDJSON without an end', async () => {
    const file = `{"brandID":"a","name":"A"}\n{"brandID":"${'x'.repeat(1_200_000)}`;
    expect(await problems('brands', file, { format: 'ndjson' })).toEqual([
      'line 2: is longer than 1000000 characters',
    ]);
  });

  it('a damaged archive, and a mapping that cannot be', async () => {
    const packed = gzipSync('brandID,name\na,A\n'.repeat(1000));
    await expect(load('brands', packed.subarray(0, 30))).rejects.toThrow(/damaged/);
    const file = 'brandID,name\na,A\n';
    await expect(load('brands', file, { map: { name: 'title' } })).rejects.toThrow(
      '--map names the column title, which the file does not have',
    );
    await expect(load('brands', file, { map: { colour: 'name' } })).rejects.toThrow(
      'colour is no field of brands that can be imported; these are: brandID, name, createdAt',
    );
    await expect(load('brands', file, { set: { brandID: 'a' } })).rejects.toThrow(
      '--set cannot give every row the same brandID',
    );
    const both = { map: { name: 'name' }, set: { name: 'b' } };
    await expect(load('brands', file, both)).rejects.toThrow('name is set by both --map and --set');
    const numbered = { number: true, map: { brandID: 'name' } } as const;
    await expect(load('brands', file, numbered)).rejects.toThrow(
      'brandID is set by both --number and --map',
    );
    await expect(load('brands', file, { number: true })).rejects.toMatchObject({
      problems: [
        { line: 1, column: 'brandID', message: 'stands in the file, which --number would number' },
      ],
    });
    await expect(load('products', file, { set: { type: 'FOO' } })).rejects.toThrow(
      '--set type must be one of PHYSICAL, DIGITAL, SERVICE',
    );
    expect(await rows('brands')).toEqual([]);
  });
});
