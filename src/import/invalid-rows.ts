import { CommandError } from '../command-error.js';

/** Most problems that are told of; what comes after them is not looked at. */
export const MOST_PROBLEMS = 20;

/** What is wrong with one row of a file. */
export interface Problem {
  /** The line on which the row begins, from 1. */
  readonly line: number;
  /** The file's column, where it is one column's fault. */
  readonly column?: string;
  readonly message: string;
}

/** A file that was refused for its rows; nothing of it was loaded. */
export class BadRows extends CommandError {
  /** The first twenty at most, in the order of the file. */
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const first = problems.toSorted((one, other) => one.line - other.line).slice(0, MOST_PROBLEMS);
    const count = first.length < MOST_PROBLEMS ? String(first.length) : 'the first twenty';
    super(`Nothing was loaded: ${count} ${first.length === 1 ? 'problem' : 'problems'}`);
    this.problems = first;
  }

  /** One line a problem. */
  lines(): string[] {
    return this.problems.map(({ line, column, message }) =>
      column === undefined
        ? `line ${line}: ${message}`
        : `line ${line}, column ${column}: ${message}`,
    );
  }
}
