import { CommandError } from '../command-error.js';
import { ArrayReader, NdjsonReader } from './json-reader.js';
import { CsvReader } from './csv-reader.js';
import { InvalidRowsError, TextError } from './invalid-rows.js';

/**
 * @typedef {'csv' | 'ndjson'} FileFormat a format of exports
 * @typedef {FileFormat | 'json'} ImportFormat a format of imports. `json` is a list of objects.
 *
 * @typedef {object} FileRow a row of a file, independent of any resource
 * @property {number} line the number of its first line, from 1
 * @property {readonly string[]} columns the names of its columns. Rows with equal columns share one array.
 * @property {readonly unknown[]} [cells] in the same order: JSON values; in CSV text, `EMPTY_QUOTES`, or null for nothing.
 * A header has none.
 * @property {import('./invalid-rows.js').Problem} [problem] why the row cannot be read
 *
 * @typedef {object} RowReader
 * @property {number} line the line that is read, for an error
 * @property {string | undefined} column its column
 * @property {(chunk: string) => FileRow[]} read the rows that end in a part of the text
 * @property {() => FileRow[]} end the rows that end with the text
 */

/** The format of a file by its name. @type {(file: string) => ImportFormat} */
export function formatNamed(file) {
  if (/\.json(\.gz)?$/.test(file)) return 'json';
  return /\.(ndjson|jsonl)(\.gz)?$/.test(file) ? 'ndjson' : 'csv';
}

/**
 * The rows of a text: NDJSON, a list in JSON, or CSV according to RFC 4180 with a header. In batches, because a promise
 * per row costs more than the row.
 *
 * @param {ImportFormat} format
 * @param {AsyncIterable<string>} text as `textOf` has it
 * @param {string} [delimiter] of CSV: a character, or `tab`
 * @returns {AsyncGenerator<FileRow[]>}
 * @throws {InvalidRowsError} if the text cannot be parsed any further
 * @throws {CommandError} for a delimiter that is none, or in another format
 */
export async function* rowsOf(format, text, delimiter) {
  checkDelimiter(format, delimiter);
  /** @type {RowReader} */
  const reader =
    format === 'csv'
      ? new CsvReader(delimiter === 'tab' ? '\t' : delimiter)
      : new { ndjson: NdjsonReader, json: ArrayReader }[format]();
  try {
    for await (const chunk of text) yield reader.read(chunk);
    yield reader.end();
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    const { line, column } = reader;
    throw new InvalidRowsError([{ line, column: error.column ?? column, message: error.message }]);
  }
}

/** @type {(format: ImportFormat, delimiter: string | undefined) => void} */
function checkDelimiter(format, delimiter) {
  if (delimiter === undefined) return;
  if (format !== 'csv') {
    throw new CommandError(`--delimiter is for CSV, and the file is read as ${format}`);
  }
  if (delimiter !== 'tab' && !/^[^"\r\n]$/.test(delimiter)) {
    throw new CommandError(`--delimiter must be one character or tab, not ${delimiter}`);
  }
}
