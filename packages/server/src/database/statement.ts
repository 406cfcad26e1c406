import { hash } from 'node:crypto';
import { anyValue } from './planner.js';

/** A parameterised SQL statement, with `$1`, `$2`, … for its values. */
export interface Statement {
  readonly text: string;
  /** SHA-256 of the text, 43 characters. A name has at most 63. */
  readonly digest: string;
  /** Whether each connection prepares it. Set for frequent statements with few variants. */
  readonly prepared: boolean;
}

export function statement(text: string, { prepared }: { prepared: boolean }): Statement {
  return { text, digest: hash('sha256', text, 'base64url'), prepared };
}

/** Collects the values of a statement's parameters, in order. */
export class ParameterValues {
  readonly values: unknown[];

  /**
   * @param first the values of the parameters `$1`, `$2`, … that are already in use
   * @param isPlannedOnce whether PostgreSQL may keep one plan of the statement for all values; see `addTyped`
   */
  constructor(
    first: readonly unknown[] = [],
    readonly isPlannedOnce = false,
  ) {
    this.values = [...first];
  }

  /** Adds a value and returns its parameter, such as `$3`. */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  /**
   * Adds a value and returns its parameter with an SQL type, if the statement is to be planned once as `anyValue`.
   */
  addTyped(value: unknown, type: string): string {
    const parameter = `${this.add(value)}::${type}`;
    return this.isPlannedOnce ? `${anyValue(parameter)}::${type}` : parameter;
  }
}

/** A row of a statement: the values by column, in PostgreSQL's text format. */
export type TextRow<Row> = Record<keyof Row, string | null>;
