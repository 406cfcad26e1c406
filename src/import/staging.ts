import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { CommandError } from '../command-error.js';
import { type CellReading, cellReader } from './cell.js';
import { checkMapping, ColumnPlan, importedFields, type Mapping } from './columns.js';
import type { FileRow } from './file-rows.js';
import { BadRows, MOST_PROBLEMS, type Problem } from './problems.js';
import type { Given } from './statements.js';

/**
 * Turns the rows of a file into the COPY text of a staging table: the line, which fields the row
 * gives (as the bits of an array, `t` or `f`), and a column a field.
 */
export class Staging {
  /** Columns of the file that no field took. */
  readonly leftOut = new Set<string>();
  /** What is wrong with the rows, in the order of the file. */
  readonly problems: Problem[] = [];
  /** Rows read so far. */
  rows = 0;

  private readonly fields: readonly ColumnMetadata[];
  private readonly readers: readonly ((cell: unknown) => CellReading)[];
  private readonly constants: readonly (string | undefined)[];
  private readonly plans = new Map<readonly string[], ColumnPlan>();
  private readonly givenBy: number[];
  private readonly seen = new Set<string>();

  constructor(
    private readonly metadata: EntityMetadata,
    private readonly mapping: Mapping,
  ) {
    checkMapping(metadata, mapping);
    this.fields = importedFields(metadata);
    this.readers = this.fields.map(cellReader);
    this.givenBy = this.fields.map(() => 0);
    this.constants = this.fields.map(({ propertyName: field }, at) => {
      const value = mapping.set.get(field);
      if (value === undefined) return undefined;
      const reading = this.readers[at]?.(value === '' ? null : value);
      if (reading && 'value' in reading) return escaped(reading.value);
      throw new CommandError(`--set ${field} must be ${reading?.mustBe ?? 'a value'}`);
    });
  }

  /**
   * The COPY text, in chunks. A bad cell is left empty, so that what the database has to say of
   * the other rows can be said as well; nothing is loaded then. Ends at the twentieth problem.
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
    const missing = [...this.mapping.map.values()].find((column) => !this.seen.has(column));
    if (missing !== undefined && this.problems.length === 0) {
      throw new CommandError(`--map names the column ${missing}, which the file does not have`);
    }
  }

  /** Whether so much was wrong that the rest of the file was not read. */
  get truncated(): boolean {
    return this.problems.length >= MOST_PROBLEMS;
  }

  /** By field, how many of the rows give it. */
  given(): Given[] {
    return this.givenBy.map((count) => (count === 0 ? 'none' : count < this.rows ? 'some' : 'all'));
  }

  private line(row: FileRow): string {
    if (row.problem) this.problems.push(row.problem);
    const plan = row.problem ? undefined : this.plan(row);
    if (!plan || !row.cells) return '';
    this.rows += 1;
    let given = '';
    let values = '';
    for (let at = 0; at < this.fields.length; at += 1) {
      const constant = this.constants[at];
      const position = plan.positions[at];
      const isGiven = constant !== undefined || position !== undefined;
      if (isGiven) this.givenBy[at] = (this.givenBy[at] ?? 0) + 1;
      given += isGiven ? 't' : 'f';
      if (constant !== undefined) values += `\t${constant}`;
      else values += position === undefined ? '\t\\N' : `\t${this.read(row, at, position)}`;
    }
    return `${row.line}\t${given}${values}\n`;
  }

  private read(row: FileRow, at: number, position: number): string {
    const cell = row.cells?.[position];
    const reading = this.readers[at]?.(cell);
    if (reading && 'value' in reading) return escaped(reading.value);
    const instead = cell === null ? '' : `, not ${shown(cell)}`;
    this.problems.push({
      line: row.line,
      column: row.columns[position],
      message: `must be ${reading?.mustBe ?? 'a value'}${instead}`,
    });
    return '\\N';
  }

  /** The plan for a row's columns; `undefined` where they were found to be wrong. */
  private plan(row: FileRow): ColumnPlan | undefined {
    const known = this.plans.get(row.columns);
    if (known) return known;
    const plan = new ColumnPlan(this.metadata, row.columns, this.mapping);
    const problem = plan.problem(row.line);
    if (problem) {
      this.problems.push(problem);
      // A header is wrong once, not again with each of its rows.
      if (!row.cells) throw new BadRows(this.problems);
      return undefined;
    }
    for (const column of row.columns) this.seen.add(column);
    for (const column of plan.leftOut) this.leftOut.add(column);
    if (this.plans.size < 10_000) this.plans.set(row.columns, plan);
    return plan;
  }
}

/** A value in the text format of COPY, https://www.postgresql.org/docs/current/sql-copy.html */
function escaped(value: string | null): string {
  if (value === null) return '\\N';
  return /[\\\n\r\t]/.test(value)
    ? value.replace(/[\\\n\r\t]/g, (char) => ESCAPES[char] ?? '')
    : value;
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A bad cell as the message shows it, cut where it is long. */
function shown(cell: unknown): string {
  const text = JSON.stringify(cell);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
