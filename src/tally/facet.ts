import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { ParameterValues } from '../database/statement.js';

/** The objects with one value in each of some counted columns. The tally counts them. */
export interface Facet {
  /** In the order in which the resource declares the combination. Empty for all objects. */
  readonly columns: readonly ColumnMetadata[];
  /** The value of each column, as text. */
  readonly values: readonly string[];
}

export const EVERY_OBJECT: Facet = { columns: [], values: [] };

/**
 * The name of a facet in the tally, as the trigger of the tally writes it, by the names of the columns in the database:
 * empty for all objects, `type=DIGITAL`, or `categoryID+type=5:outdoDIGITAL`. Each value but the last follows its length in
 * characters, since it may contain any character.
 */
export function facetName({ columns, values }: Facet): string {
  if (columns.length === 0) return '';
  return `${namesOf(columns)}=${values.map(sized).join('')}`;
}

/** The names of columns in the database, as those of facets begin. */
export function namesOf(columns: readonly ColumnMetadata[]): string {
  return columns.map(({ databaseName }) => databaseName).join('+');
}

/** The parameter with the names of facets. */
export function facetNames(facets: readonly Facet[], values: ParameterValues): string {
  return values.addTyped(facets.map(facetName), 'text[]');
}

/** A value in a name: any but the last follows its length. */
function sized(value: string, at: number, { length }: readonly string[]): string {
  return at < length - 1 ? `${Array.from(value).length}:${value}` : value;
}

/**
 * The bounds of the names of a column's facets, one for each of its values: the first inclusive, the second
 * exclusive. Names are compared byte by byte, so that no other facet is between them.
 */
export function facetBounds({ databaseName }: ColumnMetadata): [first: string, end: string] {
  return [`${databaseName}=`, `${databaseName}>`];
}

/** The values of a facet by the names of its columns in the database, from its name. */
export function facetValues(name: string): [column: string, value: string][] {
  if (name === '') return [];
  const equals = name.indexOf('=');
  const columns = name.slice(0, equals).split('+');
  let rest = Array.from(name.slice(equals + 1));
  return columns.map((column, at) => {
    if (at === columns.length - 1) return [column, rest.join('')];
    const colon = rest.indexOf(':');
    const end = colon + 1 + Number(rest.slice(0, colon).join(''));
    const value = rest.slice(colon + 1, end).join('');
    rest = rest.slice(end);
    return [column, value];
  });
}
