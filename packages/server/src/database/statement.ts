import { hash } from 'node:crypto';
import type { ObjectLiteral } from 'typeorm';
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

  /** Adds a value and returns its parameter with an SQL type, if the statement is to be planned once as `anyValue`. */
  addTyped(value: unknown, type: string): string {
    const parameter = `${this.add(value)}::${type}`;
    return this.isPlannedOnce ? `${anyValue(parameter)}::${type}` : parameter;
  }
}

/** A row of a statement: the values by column, in PostgreSQL's text format. */
export type TextRow<Row> = Record<keyof Row, string | null>;

/**
 * The parts of SQL: first those in which a colon begins no parameter, which are texts, quoted names,
 * comments and casts, then a parameter as TypeORM writes it.
 */
const PARTS =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|(\$\w*\$)[\s\S]*?\1|::|:(\.\.\.)?([A-Za-z0-9_.]+)/g;

/** SQL of `Raw` with `$1` … in place of its parameters: `:name`, and `:...name` for each value of a list. */
export function withParameters(
  sql: string,
  values: ObjectLiteral,
  parameters: ParameterValues,
): string {
  const added = new Map<string, string>();
  return sql.replace(
    PARTS,
    (part: string, _quote: unknown, spread: string | undefined, name: string | undefined) => {
      if (name === undefined || !Object.hasOwn(values, name)) return part;
      const value: unknown = values[name];
      if (spread) {
        return (value as readonly unknown[]).map((each) => parameters.add(each)).join(', ');
      }
      const parameter = added.get(name) ?? parameters.add(value);
      added.set(name, parameter);
      return parameter;
    },
  );
}
