import { ADDED, dropColumn } from './statement-corrections.js';

/** The statements of one way of a migration, in the order in which they run. */
export interface Statements {
  readonly first: string[];
  /** Statements that change tables and indexes. */
  readonly tables: string[];
  readonly last: string[];
}

/** A migration while it is written. */
export interface Migration {
  readonly up: Statements;
  readonly down: Statements;
}

/** The columns of a table that statements give another type, or drop and add. */
export function retypedColumns({ tables }: Statements, table: string): string[] {
  const columns = tables.flatMap((statement) => {
    const [, of, column] = /^ALTER TABLE "(\w+)" ALTER COLUMN "(\w+)" TYPE /.exec(statement) ?? [];
    return of === table && column !== undefined ? [column] : [];
  });
  return [...columns, ...recreatedColumns({ tables }, table)];
}

/** The columns of a table that statements drop and add, such as one that is generated in another way. */
export function recreatedColumns({ tables }: Pick<Statements, 'tables'>, table: string): string[] {
  return tables.flatMap((statement) => {
    const [, of, column = ''] = ADDED.exec(statement) ?? [];
    return of === table && tables.includes(dropColumn(table, column)) ? [column] : [];
  });
}
