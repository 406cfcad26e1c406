import { type FieldDef, Query } from 'pg';
import type { Statement } from './statement.js';

/** A row of a `TextQuery`: the values by column, in PostgreSQL's text format. */
export type TextRow<Row> = Record<keyof Row, string | null>;

/**
 * A query that leaves all values as text. It collects the rows itself: for a short query, the result
 * that pg builds, with a parser for each column, costs more than the query.
 */
export class TextQuery<Row extends TextRow<Row>> extends Query {
  readonly found: Row[] = [];
  /** The name under which the connection prepares the statement. */
  readonly name: string | undefined;
  private columns: readonly string[] = [];

  constructor({ text, digest, prepared }: Statement, values: readonly unknown[]) {
    // A text and not a configuration object, which pg would clone.
    super(text, values as never);
    this.name = prepared ? digest : undefined;
  }

  /** Called by pg before the first row. */
  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.columns = fields.map(({ name }) => name);
  }

  /** Called by pg for each row. */
  handleDataRow({ fields: values }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, string | null> = {};
    this.columns.forEach((name, index) => {
      row[name] = values[index] ?? null;
    });
    this.found.push(row as Row);
  }
}
