import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { CommandError } from '../command-error.js';
import { JsonText } from '../resource/json-text.js';
import {
  checkMapping,
  type ColumnPlan,
  importedFields,
  type Mapping,
  NUMBER,
  planColumns,
} from './columns.js';
import { EMPTY_QUOTES } from './csv-reader.js';
import type { FileRow } from './file-rows.js';
import { InvalidRowsError, MAX_PROBLEMS, type Problem } from './invalid-rows.js';
import { MAX_CACHED_COLUMNS } from './json-reader.js';
import type { Presence } from './statements.js';
import { cellReader, type CellReading, seenOnly, withCodes } from './cell.js';

/**
 * Converts the rows of a file to the COPY text of a staging table: the line number; one character per field, `t` if the
 * row sets it or else `f`; the fields.
 */
export class Staging {
  /** Columns of the file that were ignored. */
  readonly leftOut = new Set<string>();
  /** The problems of the rows, in the order of the file. */
  readonly problems: Problem[] = [];
  /** Number of rows read so far. */
  rows = 0;

  private readonly fields: readonly ColumnMetadata[];
  private readonly readers: readonly ((cell: unknown) => CellReading)[];
  private readonly constants: readonly (string | undefined)[];
  private readonly plans = new Map<readonly string[], ColumnPlan>();
  private readonly setBy: number[];
  private readonly seenColumns = new Set<string>();

  constructor(
    private readonly metadata: EntityMetadata,
    private readonly mapping: Mapping,
    allowInvisible = false,
  ) {
    checkMapping(metadata, mapping);
    this.fields = importedFields(metadata);
    this.readers = this.fields.map((column) =>
      column.isPrimary && !allowInvisible ? seenOnly(cellReader(column)) : cellReader(column),
    );
    this.setBy = this.fields.map(() => 0);
    this.constants = this.fields.map(({ propertyName: field }, at) => {
      const value = mapping.set.get(field);
      if (value === undefined) return undefined;
      const reading = this.readers[at]?.(value === '' ? null : value);
      if (reading && 'value' in reading) return escaped(reading.value);
      throw new CommandError(`--set ${field} must be ${reading?.mustBe ?? 'a value'}`);
    });
  }

  /**
   * The COPY text, in chunks. An invalid cell becomes null, so that the checks in the database go on. Ends at
   * `MAX_PROBLEMS`.
   *
   * @throws InvalidRowsError if the header is invalid
   * @throws CommandError if `--map` names a column that the file does not have
   */
  async *copy(batches: AsyncIterable<readonly FileRow[]>): AsyncGenerator<string> {
    for await (const rows of batches) {
      let lines = '';
      for (const row of rows) {
        if (!this.truncated) lines += this.line(row);
      }
      yield lines;
      if (this.truncated) return;
    }
    const missing = [...this.mapping.map.values()].find((column) => !this.seenColumns.has(column));
    if (missing !== undefined && this.problems.length === 0) {
      throw new CommandError(`--map names the column ${missing}, which the file does not have`);
    }
  }

  /** Whether reading stopped early, at `MAX_PROBLEMS`. */
  get truncated(): boolean {
    return this.problems.length >= MAX_PROBLEMS;
  }

  /** How many of the rows set each field, in the order of `importedFields`. */
  presence(): Presence[] {
    return this.setBy.map((count) => (count === 0 ? 'none' : count < this.rows ? 'some' : 'all'));
  }

  private line(row: FileRow): string {
    if (row.problem) this.problems.push(row.problem);
    const plan = row.problem ? undefined : this.plan(row);
    if (!plan || !row.cells) return '';
    this.rows += 1;
    let flags = '';
    let values = '';
    for (let at = 0; at < this.fields.length; at += 1) {
      const constant = this.constants[at];
      const position = plan.positions[at];
      const isSet = constant !== undefined || position !== undefined;
      if (isSet) this.setBy[at] = (this.setBy[at] ?? 0) + 1;
      flags += isSet ? 't' : 'f';
      if (constant !== undefined) values += `\t${constant}`;
      else values += position === undefined ? '\t\\N' : `\t${this.read(row, at, position)}`;
    }
    return `${row.line}\t${flags}${values}\n`;
  }

  private read(row: FileRow, at: number, position: number): string {
    const cell = position === NUMBER ? String(this.rows) : row.cells?.[position];
    const reading = this.readers[at]?.(cell);
    if (reading && 'value' in reading) return escaped(reading.value);
    const actual = cell === null || cell === EMPTY_QUOTES ? '' : `, not ${shortened(cell)}`;
    this.problems.push({
      line: row.line,
      column: row.columns[position] ?? this.fields[at]?.propertyName,
      message: `must be ${reading?.mustBe ?? 'a value'}${actual}`,
    });
    return '\\N';
  }

  /** The plan for the columns of a row; `undefined` if they are invalid. */
  private plan(row: FileRow): ColumnPlan | undefined {
    const cached = this.plans.get(row.columns);
    if (cached) return cached;
    const plan = planColumns(this.metadata, row.columns, this.mapping);
    if (plan.problem) {
      this.problems.push({ line: row.line, ...plan.problem });
      // An invalid header is reported once, not for each row.
      if (!row.cells) throw new InvalidRowsError(this.problems);
      return undefined;
    }
    for (const column of row.columns) this.seenColumns.add(column);
    for (const column of plan.leftOut) this.leftOut.add(column);
    if (this.plans.size < MAX_CACHED_COLUMNS) this.plans.set(row.columns, plan);
    return plan;
  }
}

/** A value in the text format of COPY: https://www.postgresql.org/docs/current/sql-copy.html */
function escaped(value: string | null): string {
  if (value === null) return '\\N';
  return /[\\\n\r\t]/.test(value)
    ? value.replace(/[\\\n\r\t]/g, (char) => ESCAPES[char] ?? '')
    : value;
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A cell as JSON for a message, at most 60 characters. */
function shortened(cell: unknown): string {
  const text = withCodes(cell instanceof JsonText ? cell.text : JSON.stringify(cell));
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
