import { parse } from 'csv-parse';
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { GeneratorError } from './generator-error.js';

/** @typedef {AsyncGenerator<[column: string, value: unknown][]>} Rows */

/** The rows of a CSV file, an NDJSON file or a list in JSON, perhaps compressed. @type {(file: string) => Rows} */
export async function* rowsOf(file) {
  const bytes = createReadStream(file);
  const text = file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes;
  bytes.on('error', (error) => text.destroy(error));
  try {
    const [, lines, list] = /\.(?:(ndjson|jsonl)|(json))(\.gz)?$/.exec(file) ?? [];
    if (lines ?? list) yield* jsonRows(text.setEncoding('utf8'), list !== undefined);
    else yield* csvRows(text);
  } catch (error) {
    throw new GeneratorError(`${file} cannot be read: ${/** @type {Error} */ (error).message}`);
  } finally {
    bytes.destroy();
  }
}

/** @type {(text: NodeJS.ReadableStream) => Rows} */
async function* csvRows(text) {
  const parser = parse({ bom: true, skip_empty_lines: true, max_record_size: 1_000_000 });
  text.on('error', (error) => parser.destroy(error));
  /** @type {string[] | undefined} */
  let header;
  for await (const record of /** @type {AsyncIterable<string[]>} */ (text.pipe(parser))) {
    const names = (header ??= record);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice !== undefined) throw new Error(`the header has the column ${twice} twice`);
    if (record === header) continue;
    yield record.map((cell, at) => [names[at] ?? '', cell === '' ? null : cell]);
  }
}

/** The objects of a list, or of one line each. @type {(text: AsyncIterable<unknown>, isList: boolean) => Rows} */
async function* jsonRows(text, isList) {
  let [rest, at] = ['', 0];
  for await (const chunk of text) {
    rest += String(chunk);
    if (isList) continue;
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield entries(parsed(line));
  }
  const rows = isList ? parsed(rest) : rest.trim() === '' ? [] : [parsed(rest)];
  if (!Array.isArray(rows)) throw new Error('it is no list in JSON');
  for (const row of rows) yield entries(row);

  /** @type {(row: unknown) => [string, unknown][]} */
  function entries(row) {
    at += 1;
    if (typeof row === 'object' && row && !Array.isArray(row)) return Object.entries(row);
    throw new Error(`row ${at} is no object in JSON`);
  }
}

/** What a text in JSON means; `undefined` if it is none. @type {(json: string) => unknown} */
export function parsed(json) {
  try {
    return JSON.parse(json.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}
