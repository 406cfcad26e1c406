/** A difference between the schema of a database and the entities. */
export interface Difference {
  readonly text: string;
  /** The instruction that fixes it, such as `run …`. */
  readonly remedy: string;
  /** The resource whose lists may be wrong or fail. */
  readonly resource?: string;
  /** Whether a table or column is affected. Until it is fixed, the data cannot be compared. */
  readonly affectsColumns?: true;
  /** Whether the database only has more than the entities declare. */
  readonly isSurplus?: true;
}

/** A difference as a line for an operator. */
export function lineOf({ text, remedy }: Difference): string {
  return `${text}; ${remedy}`;
}

/** The remedy if a migration is missing. The first command writes it, the second one applies it. */
export const MIGRATION = 'run npm run migration -- <name> and catalogue migrate';

/** The remedy if a migration is missing, or if a statement of one was undone. */
export function orMigration(statement: string): string {
  return `${MIGRATION}, or if a migration has it already: ${statement}`;
}

/** The names of columns, for an operator. */
export function named(columns: readonly string[]): string {
  return columns.length === 0 ? 'nothing' : columns.join(', ');
}
