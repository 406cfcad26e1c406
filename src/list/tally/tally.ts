import type { EntityMetadata } from 'typeorm';

/** The tables that hold a resource's tally, quoted. */
export interface TallyTables {
  readonly tally: string;
  readonly deltas: string;
}

export function tallyTables({ tableName }: EntityMetadata): TallyTables {
  return { tally: `"${tableName}_tally"`, deltas: `"${tableName}_tally_deltas"` };
}

/** Every row of a resource's tally and of its deltas, as `facet`, `lowest` and `count`. */
export function tallyRows(metadata: EntityMetadata, where = ''): string {
  const { tally, deltas } = tallyTables(metadata);
  return `(SELECT * FROM ${tally} ${where} UNION ALL SELECT * FROM ${deltas} ${where}) every`;
}

/** The SQL expression of how many objects a facet has, given the parameter that holds its name. */
export function countOf(metadata: EntityMetadata, parameter: string): string {
  const { tally, deltas } = tallyTables(metadata);
  const [tallied, since] = [tally, deltas].map(
    (table) => `(SELECT coalesce(sum(count), 0) FROM ${table} WHERE facet = ${parameter})`,
  );
  return `(${tallied} + ${since})::text`;
}
