import type { EntityMetadata } from 'typeorm';

/** The tables that hold a resource's tally, quoted. */
export interface TallyTables {
  readonly tally: string;
  readonly deltas: string;
}

/** The objects that a count is of: all of a resource, or those with one value in one column. */
export interface Facet {
  readonly column: string;
  readonly value: string;
}

export function tallyTables({ tableName }: EntityMetadata): TallyTables {
  return { tally: `"${tableName}_tally"`, deltas: `"${tableName}_tally_deltas"` };
}

/** The name of a facet in the tally; that of all objects is empty. */
export function facetName(facet: Facet | undefined): string {
  return facet ? `${facet.column}=${facet.value}` : '';
}

/** The facet of a name. */
export function facetOf(name: string): Facet | undefined {
  const equals = name.indexOf('=');
  return equals < 0 ? undefined : { column: name.slice(0, equals), value: name.slice(equals + 1) };
}
