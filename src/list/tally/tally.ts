import type { EntityMetadata } from 'typeorm';

/** The tables that hold a resource's tally, quoted. */
export interface TallyTables {
  readonly tally: string;
  readonly deltas: string;
}

export function tallyTables({ tableName }: EntityMetadata): TallyTables {
  return { tally: `"${tableName}_tally"`, deltas: `"${tableName}_tally_deltas"` };
}

/** A subquery of every row of a resource's tally and deltas, with `facet`, `lowest` and `count`. */
export function tallyRows(metadata: EntityMetadata, where = ''): string {
  const { tally, deltas } = tallyTables(metadata);
  return `(SELECT * FROM ${tally} ${where} UNION ALL SELECT * FROM ${deltas} ${where}) every`;
}

/**
 * An SQL expression for the number of objects of a facet, as text.
 *
 * @param parameter the SQL parameter that holds the name of the facet
 */
export function countOf(metadata: EntityMetadata, parameter: string): string {
  const { tally, deltas } = tallyTables(metadata);
  const [tallied, since] = [tally, deltas].map(
    (table) => `(SELECT coalesce(sum(count), 0) FROM ${table} WHERE facet = ${parameter})`,
  );
  return `(${tallied} + ${since})::text`;
}
