import type { EntityMetadata } from 'typeorm';

/** The tables that hold a resource's tally, quoted. */
export interface TallyTables {
  readonly tally: string;
  readonly deltas: string;
}

/** Objects that are counted by themselves: those with one value in one column. */
export interface Facet {
  readonly column: string;
  readonly value: string;
}

export function tallyTables({ tableName }: EntityMetadata): TallyTables {
  return { tally: `"${tableName}_tally"`, deltas: `"${tableName}_tally_deltas"` };
}

/** Every row of a resource's tally and of its deltas, as `facet`, `lowest` and `count`. */
export function tallyRows(metadata: EntityMetadata, where = ''): string {
  const { tally, deltas } = tallyTables(metadata);
  return `(SELECT * FROM ${tally} ${where} UNION ALL SELECT * FROM ${deltas} ${where}) every`;
}

/** The name of a facet in the tally; that of all objects is empty. */
export function facetName(facet: Facet | 'all'): string {
  return facet === 'all' ? '' : `${facet.column}=${facet.value}`;
}

/** The facet of a name. */
export function facetOf(name: string): Facet | 'all' {
  const equals = name.indexOf('=');
  return equals < 0 ? 'all' : { column: name.slice(0, equals), value: name.slice(equals + 1) };
}
