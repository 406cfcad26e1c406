import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rowsOf } from '../../packages/schematics/resource/sample.js';
import { formatNamed, rowsOf as importedRows } from '#server/import/file-rows.js';
import { InvalidRowsError } from '#server/import/invalid-rows.js';
import { openSource, textOf } from '#server/import/source.js';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rows-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** What the generator reads of a file, or its refusal. */
async function generated(file: string, delimiter?: string): Promise<unknown> {
  const rows = [];
  try {
    for await (const row of rowsOf(file, delimiter)) rows.push(Object.fromEntries(row.cells));
  } catch (error) {
    return (error as Error).message;
  }
  return rows;
}

/** The lines with which an import refuses a file. */
async function refusal(file: string): Promise<string | undefined> {
  const { stream } = await openSource(file);
  try {
    for await (const rows of importedRows(formatNamed(file), textOf(stream))) {
      const { problem } = rows.find((row) => row.problem) ?? {};
      if (problem) throw new InvalidRowsError([problem]);
    }
  } catch (error) {
    return (error as InvalidRowsError).lines().join();
  }
  return undefined;
}

describe('The generator reads a file as an import does', () => {
  it.each([
    ['a.csv', '\ufeffid,name\n1,"A, ""a"""\r\n\r\n2,\r3,""', undefined],
    ['b.csv.gz', gzipSync('id;name\n1;"A, ""a"""\n'), ';'],
    ['c.csv', 'id\tname\r1\t"A, ""a"""', 'tab'],
    ['d.ndjson', '\ufeff{"id":"1","name":"A, \\"a\\""}\r\n\r', undefined],
    ['e.json', '\ufeff[\r{"id":"1","name":"A, \\"a\\""}\n]', undefined],
  ])('%s', async (name, bytes, delimiter) => {
    const file = join(folder, name);
    await writeFile(file, bytes);
    const [first, ...others] = (await generated(file, delimiter)) as object[];
    expect(first).toEqual({ id: '1', name: 'A, "a"' });
    const more = ['2', '3'].map((id) => ({ id, name: null }));
    expect(others).toEqual(name === 'a.csv' ? more : []);
  });

  it.each([
    ['semicolons.csv', 'id;name\n1;A\n', / --delimiter ';'$/],
    ['utf-16.csv', Buffer.from('\ufeffid,name\n1,A\n', 'utf16le'), /iconv -f utf-16 -t utf-8$/],
    ['latin-1.csv', Buffer.from('id,name\n1,M\xfcller\n', 'latin1'), /iconv -f windows-1252/],
    ['latin-1.ndjson', Buffer.from('{"id":"M\xfcller"}\n', 'latin1'), /iconv -f windows-1252/],
    ['long.csv', `id,name\n1,"${'x'.repeat(3_000_000)}"\n`, /is longer than 1000000 characters/],
    ['quote.csv', 'id,name\n1,"A" b\n', /column name: has " " behind the closing quote/],
    ['cells.csv', 'id,name\n1,A,B\n', /line 2: has 3 cells, but the header has 2$/],
    ['twice.csv', 'id,id\n1,A\n', /^line 1, column id: stands twice in the header$/],
    ['none.json', '{"id":1}', /^line 1: is not a list in JSON$/],
  ])('and refuses it in equal words: %s', async (name, bytes, words) => {
    const file = join(folder, name);
    await writeFile(file, bytes);
    const lines = await refusal(file);
    expect(lines).toMatch(words);
    expect(await generated(file)).toBe(`${file}: ${lines}`);
  });
});
