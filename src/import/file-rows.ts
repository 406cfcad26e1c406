import { CsvError, type Info, parse } from 'csv-parse';
import { parsed } from '../resource/json-cell.js';
import { arrayElements } from './array-elements.js';
import { InvalidRowsError, type Problem } from './invalid-rows.js';

/** A format of exports. */
export type FileFormat = 'csv' | 'ndjson';

/** A format of imports. `json` is a list of objects. */
export type ImportFormat = FileFormat | 'json';

/** A row of a file, independent of any resource. */
export interface FileRow {
  /** The number of its first line, from 1. */
  readonly line: number;
  /** The names of its columns. Rows with equal columns share one array. */
  readonly columns: readonly string[];
  /** In the same order: JSON values; in CSV text, `EMPTY_QUOTES`, or null for nothing. A header has none. */
  readonly cells?: readonly unknown[];
  /** Why the row cannot be read. */
  readonly problem?: Problem;
}

/** A CSV cell of two quotes. It is the empty text where the column can hold that, and else null. */
export const EMPTY_QUOTES = Symbol('""');

/** Maximum number of cached column lists. */
export const MAX_CACHED_COLUMNS = 10_000;

/** Maximum length of a row. Bounds the memory that an unclosed quote takes. */
const MAX_ROW_LENGTH = 1_000_000;

/**
 * The rows of a text: NDJSON, a list in JSON, or CSV according to RFC 4180 with a header. In batches, because a promise
 * per row costs more than the row.
 *
 * @throws InvalidRowsError if the text cannot be parsed any further
 */
export function rowsOf(
  format: ImportFormat,
  text: AsyncIterable<string>,
): AsyncGenerator<FileRow[]> {
  return { csv: csvRows, ndjson: ndjsonRows, json: jsonRows }[format](text);
}

async function* csvRows(text: AsyncIterable<string>): AsyncGenerator<FileRow[]> {
  let columns: string[] | undefined;
  for await (const records of csvRecords(text)) {
    const rows: FileRow[] = [];
    for (const { record, info, raw } of records) {
      if (columns) {
        rows.push(csvRow(columns, record, raw, firstLine(record, info)));
      } else {
        columns = headerOf(record);
        rows.push({ line: 1, columns });
      }
    }
    yield rows;
  }
  if (columns === undefined)
    throw new InvalidRowsError([{ line: 1, message: 'there is no header' }]);
}

interface CsvRecord {
  record: string[];
  info: Info;
  /** The text of the record in the file. */
  raw: string;
}

async function* csvRecords(text: AsyncIterable<string>): AsyncGenerator<CsvRecord[]> {
  const parser = parse({
    bom: true,
    info: true,
    raw: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_ROW_LENGTH,
  });
  let line = 1;
  // Errors are read from `parser.errored` below.
  parser.on('error', () => undefined);
  try {
    for await (const chunk of text) {
      parser.write(chunk);
      const records: CsvRecord[] = [];
      let read: CsvRecord | null;
      while ((read = parser.read() as CsvRecord | null)) {
        records.push(read);
        line = read.info.lines + 1;
      }
      if (parser.errored) throw parser.errored;
      yield records;
    }
    parser.end();
    for await (const last of parser as AsyncIterable<CsvRecord>) yield [last];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // The first line of the row: an unclosed quote is detected much later.
    throw new InvalidRowsError([{ line, message: error.message }]);
  }
}

function csvRow(columns: readonly string[], record: string[], raw: string, line: number): FileRow {
  if (record.length === columns.length) return { line, columns, cells: cellsOf(record, raw) };
  const message = `has ${record.length} cells, but the header has ${columns.length}`;
  return { line, columns, problem: { line, message } };
}

/**
 * The parser tells which cells are in quotes only through `cast`, with which it takes eight times as long. So they are told by
 * their lengths, with one character between two of them.
 */
function cellsOf(record: readonly string[], raw: string): FileRow['cells'] {
  // Empty lines before a record are a part of its text.
  let at = raw.search(/[^\r\n]/);
  return record.map((cell) => {
    const isQuoted = raw[at] === '"';
    at += cell.length + 1;
    if (isQuoted) at += 1 + cell.split('"').length;
    return cell === '' ? (isQuoted ? EMPTY_QUOTES : null) : cell;
  });
}

function headerOf(record: string[]): string[] {
  const repeated = record.find((name, at) => record.indexOf(name) !== at);
  if (repeated === undefined) return record;
  throw new InvalidRowsError([
    { line: 1, column: repeated, message: 'stands twice in the header' },
  ]);
}

/** The first line of a record. The parser reports its last line, and cells may contain newlines. */
function firstLine(record: string[], { lines }: Info): number {
  let within = 0;
  for (const cell of record) if (cell.includes('\n')) within += cell.split('\n').length - 1;
  return lines - within;
}

async function* ndjsonRows(text: AsyncIterable<string>): AsyncGenerator<FileRow[]> {
  const columns = new Map<string, readonly string[]>();
  let line = 0;
  let rest = '';
  for await (const chunk of text) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_ROW_LENGTH) {
      const message = `is longer than ${MAX_ROW_LENGTH} characters`;
      throw new InvalidRowsError([{ line: line + lines.length + 1, message }]);
    }
    const first = line + 1;
    line += lines.length;
    yield lines.flatMap((json, at) => ndjsonRow(first + at, json, columns));
  }
  yield ndjsonRow(line + 1, rest, columns);
}

async function* jsonRows(text: AsyncIterable<string>): AsyncGenerator<FileRow[]> {
  const columns = new Map<string, readonly string[]>();
  for await (const elements of arrayElements(text, MAX_ROW_LENGTH)) {
    yield elements.flatMap(({ line, json }) => ndjsonRow(line, json, columns));
  }
}

/** @param cache the columns of earlier rows, so that rows with equal columns share one array */
function ndjsonRow(line: number, json: string, cache: Map<string, readonly string[]>): FileRow[] {
  if (json.trim() === '') return [];
  const object = parsed(json);
  if (typeof object !== 'object' || !object || Array.isArray(object)) {
    return [{ line, columns: [], problem: { line, message: 'is not a JSON object' } }];
  }
  const names = Object.keys(object);
  const key = JSON.stringify(names);
  const columns = cache.get(key) ?? names;
  if (columns === names && cache.size < MAX_CACHED_COLUMNS) cache.set(key, columns);
  return [{ line, columns, cells: Object.values(object) }];
}
