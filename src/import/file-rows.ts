import { CsvError, type Info, parse, type Parser } from 'csv-parse';
import { BadRows, type Problem } from './problems.js';

export type Format = 'csv' | 'ndjson';

/** One row of a file, before anything is known of its resource. */
export interface FileRow {
  /** The line on which it begins, from 1. */
  readonly line: number;
  /** The names of its columns; the same array as long as they stay the same. */
  readonly columns: readonly string[];
  /** Its cells in that order: text or null from CSV, any JSON value from NDJSON; none in a header. */
  readonly cells?: readonly unknown[];
  /** What keeps the row from being read at all. */
  readonly problem?: Problem;
}

/** Bytes of the largest row that is read, so that a quote left open does not take the memory of a file. */
const LARGEST_ROW = 1_000_000;

/**
 * The rows of a text, in batches: a promise for each of a million rows would cost more than the
 * rows. CSV as RFC 4180 has it, its first row naming the columns.
 */
export function rowsOf(format: Format, text: AsyncIterable<string>): AsyncGenerator<FileRow[]> {
  return format === 'csv' ? csvRows(text) : ndjsonRows(text);
}

async function* csvRows(text: AsyncIterable<string>): AsyncGenerator<FileRow[]> {
  let columns: string[] | undefined;
  for await (const records of csvRecords(text)) {
    const rows: FileRow[] = [];
    for (const { record, info } of records) {
      if (columns) {
        rows.push(csvRow(columns, record, firstLine(record, info)));
      } else {
        columns = headerOf(record);
        rows.push({ line: 1, columns });
      }
    }
    yield rows;
  }
  if (columns === undefined) throw new BadRows([{ line: 1, message: 'there is no header' }]);
}

interface CsvRecord {
  record: string[];
  info: Info;
}

async function* csvRecords(text: AsyncIterable<string>): AsyncGenerator<CsvRecord[]> {
  const parser = parse({
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: LARGEST_ROW,
  });
  let line = 1;
  // What goes wrong is asked for below.
  parser.on('error', () => undefined);
  try {
    for await (const chunk of text) {
      parser.write(chunk);
      const records: CsvRecord[] = [];
      for (let read = next(parser); read; read = next(parser)) {
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
    // Where the row begins that it is about: an open quote may be found much later.
    throw new BadRows([{ line, message: error.message }]);
  }
}

function next(parser: Parser): CsvRecord | null {
  return parser.read() as CsvRecord | null;
}

function csvRow(columns: readonly string[], record: string[], line: number): FileRow {
  if (record.length === columns.length) {
    return { line, columns, cells: record.map((cell) => (cell === '' ? null : cell)) };
  }
  const message = `has ${record.length} cells, but the header has ${columns.length}`;
  return { line, columns, problem: { line, message } };
}

function headerOf(record: string[]): string[] {
  const repeated = record.find((name, at) => record.indexOf(name) !== at);
  if (repeated === undefined) return record;
  throw new BadRows([{ line: 1, column: repeated, message: 'stands twice in the header' }]);
}

/** The parser counts the lines up to a record's end, and a cell may hold several. */
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
    if (rest.length > LARGEST_ROW) {
      const message = `is longer than ${LARGEST_ROW} characters`;
      throw new BadRows([{ line: line + lines.length + 1, message }]);
    }
    const first = line + 1;
    line += lines.length;
    yield lines.flatMap((json, at) => ndjsonRow(first + at, json, columns));
  }
  yield ndjsonRow(line + 1, rest, columns);
}

/**
 * The row of a line, none for an empty one.
 *
 * @param known the columns of the rows before, so that equal ones are the same array
 */
function ndjsonRow(line: number, json: string, known: Map<string, readonly string[]>): FileRow[] {
  if (json.trim() === '') return [];
  const object = objectOf(json);
  if (!object) {
    return [{ line, columns: [], problem: { line, message: 'is not a JSON object' } }];
  }
  const names = Object.keys(object);
  const key = JSON.stringify(names);
  const columns = known.get(key) ?? names;
  if (columns === names && known.size < 10_000) known.set(key, columns);
  return [{ line, columns, cells: Object.values(object) }];
}

function objectOf(json: string): object | undefined {
  try {
    const value = JSON.parse(json) as unknown;
    return typeof value === 'object' && value && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
