import type { DataSource, EntityMetadata } from 'typeorm';
import type { Difference } from '../difference.js';
import { ADDED, dropColumn } from '../schema-changes.js';

/** The statements of one way of a migration, in the order in which they run. */
export interface Statements {
  readonly first: string[];
  /** Statements that change tables and indexes. */
  readonly tables: string[];
  readonly last: string[];
}

/** A migration while it is written. */
interface Migration {
  readonly up: Statements;
  readonly down: Statements;
}

/**
 * What the service installs for a resource besides its table, such as its tally. An installed part is described
 * by a `State`, such as the columns that the tally counts.
 */
export interface Part<State> {
  /** Whether lists are slow without it, but right. */
  readonly isForSpeed?: true;
  /** What is installed, by resource. Reads no objects. */
  read(dataSource: DataSource): Promise<ReadonlyMap<string, State>>;
  /** How what is installed differs from what an entity declares. */
  differences(metadata: EntityMetadata, installed: State | undefined): readonly Difference[];
  /** Adds the statements that install what an entity declares, and those that bring back what is installed. */
  migrate(metadata: EntityMetadata, installed: State | undefined, migration: Migration): void;
}

/** An SQL expression for the names of the triggers on the table of the column `resource`. */
export const TRIGGERS = `ARRAY(SELECT tgname::text FROM pg_trigger WHERE tgrelid = to_regclass(quote_ident(resource)))`;

/** The SQL of an array of names of columns. */
export function namesArray(names: readonly string[]): string {
  return `'{${names.join()}}'`;
}

/** The triggers `<prefix>_<operation>` that are not installed. */
export function missingTriggers(
  prefix: string,
  operations: readonly string[],
  installed: readonly string[],
): string[] {
  return operations
    .map((operation) => `${prefix}_${operation}`)
    .filter((trigger) => !installed.includes(trigger));
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
