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

/** The remedy if something is missing that follows from the declaration of a resource. */
export const MIGRATE = 'run catalogue migrate';

/** The names of columns, for an operator. */
export function named(columns: readonly string[]): string {
  return columns.length === 0 ? 'nothing' : columns.join(', ');
}
