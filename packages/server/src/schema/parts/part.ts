import type { EntityManager, EntityMetadata } from 'typeorm';
import type { Difference } from '../difference.js';

/** A connection, or a pool of them. */
export type Queries = Pick<EntityManager, 'query'>;

/**
 * What the service installs for a resource besides its table, such as its tally. An installed part is described
 * by a `State`, such as the columns that the tally counts.
 */
export interface Part<State> {
  /** What is installed, by resource. Reads no objects. */
  read(queries: Queries, resources: readonly string[]): Promise<ReadonlyMap<string, State>>;
  /** How what is installed differs from what an entity declares. */
  differences(metadata: EntityMetadata, installed: State | undefined): readonly Difference[];
  /**
   * The statements that install what is lacking; none if nothing is. What an instance of another release needs stays,
   * unless it must be `exact`.
   */
  statements(metadata: EntityMetadata, installed: State | undefined, exact: boolean): string[];
}

/**
 * An SQL expression for the names of the triggers of a part that the resource of the column `resource` lacks: they are missing,
 * disabled, or do something else.
 */
export function lackingTriggers(part: 'updated_at' | 'words' | 'deletions' | 'tally'): string {
  return `ARRAY(SELECT name FROM part_triggers(resource) WHERE part = '${part}' AND NOT is_installed)`;
}

/** The SQL of an array of names of columns. */
export function namesArray(names: readonly string[]): string {
  const elements = names.map((name) =>
    /^[\w+]+$/.test(name) && name.toLowerCase() !== 'null'
      ? name
      : `"${name.replace(/["\\]/g, '\\$&').replaceAll("'", "''")}"`,
  );
  return `'{${elements.join()}}'`;
}

/** The names that one list has and the other does not. */
export function namesBeside(names: readonly string[], others: readonly string[]): string[] {
  return names.filter((name) => !others.includes(name));
}
