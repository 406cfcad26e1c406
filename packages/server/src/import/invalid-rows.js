import { CommandError } from '../command-error.js';

/** Maximum number of reported problems. The import stops reading after the last of them. */
export const MAX_PROBLEMS = 20;

/**
 * A problem with one row of a file: the line on which the row begins, from 1; the column of the file, `undefined` if the
 * problem is not about a single column.
 *
 * @typedef {{ readonly line: number, readonly column?: string, readonly message: string }} Problem
 */

/** A file has invalid rows. Nothing of it was loaded. */
export class InvalidRowsError extends CommandError {
  /** @param {readonly Problem[]} problems */
  constructor(problems) {
    const first = problems.toSorted((one, other) => one.line - other.line).slice(0, MAX_PROBLEMS);
    const count = first.length < MAX_PROBLEMS ? String(first.length) : 'the first twenty';
    super(`Nothing was loaded: ${count} ${first.length === 1 ? 'problem' : 'problems'}`);
    /** At most `MAX_PROBLEMS`, ordered by line. */
    this.problems = first;
  }

  /** The problems as lines for the operator, such as `line 3, column price: must be …`. */
  lines() {
    return this.problems.map(({ line, column, message }) =>
      column === undefined
        ? `line ${line}: ${message}`
        : `line ${line}, column ${column}: ${message}`,
    );
  }
}

/** What is wrong with a text that is read. The reader of rows knows the line, and the column unless it is given. */
export class TextError extends Error {
  /** @param {string} message @param {string} [column] */
  constructor(message, column) {
    super(message);
    this.column = column;
  }
}
