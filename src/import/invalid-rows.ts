import { CommandError } from '../command-error.js';

/** Maximum number of reported problems. The import stops reading after the last of them. */
export const MAX_PROBLEMS = 20;

/** A problem with one row of a file. */
export interface Problem {
  /** The line on which the row begins, from 1. */
  readonly line: number;
  /** The column of the file; undefined if the problem is not about a single column. */
  readonly column?: string;
  readonly message: string;
}

/** A file has invalid rows. Nothing of it was loaded. */
export class InvalidRowsError extends CommandError {
  /** At most `MAX_PROBLEMS`, ordered by line. */
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const first = problems.toSorted((one, other) => one.line - other.line).slice(0, MAX_PROBLEMS);
    const count = first.length < MAX_PROBLEMS ? String(first.length) : 'the first twenty';
    super(`Nothing was loaded: ${count} ${first.length === 1 ? 'problem' : 'problems'}`);
    this.problems = first;
  }

  /** The problems as lines for the operator, such as `line 3, column price: must be …`. */
  lines(): string[] {
    return this.problems.map(({ line, column, message }) =>
      column === undefined
        ? `line ${line}: ${message}`
        : `line ${line}, column ${column}: ${message}`,
    );
  }
}
