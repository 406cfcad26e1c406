import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { ParameterValues } from '../database/statement.js';
import { textAbove } from '../resource/formats.js';

/** The objects with one value in each of some counted columns. The tally counts them. */
export interface Facet {
  /** In the order in which the resource declares the combination. Empty for all objects. */
  readonly columns: readonly ColumnMetadata[];
  /** The value of each column, as text. */
  readonly values: readonly string[];
}

export const EVERY_OBJECT: Facet = { columns: [], values: [] };

/*
 * Everything of the service that makes or reads a name of a facet is here. The triggers make names by `tally_facet` of
 * `tally.sql`.
 */

/**
 * The name of a facet in the tally, by the names of the columns in the database: empty for all objects, `type=DIGITAL`,
 * or `categoryID+type=5:outdoDIGITAL`. Each value but the last follows its length in characters, since it may contain any
 * character.
 */
export function facetName({ columns, values }: Facet): string {
  if (columns.length === 0) return '';
  return `${namesOf(columns)}=${values.map((value, at) => sized(value, at < columns.length - 1)).join('')}`;
}

/** The names of columns in the database, as those of facets begin. */
export function namesOf(columns: readonly ColumnMetadata[]): string {
  return joined(columns.map(({ databaseName }) => databaseName));
}

/** The names of columns as one, such as `categoryID+type`. */
export function joined(names: readonly string[]): string {
  return names.join('+');
}

/** The names of columns that `joined` made one. */
export function separated(names: string): string[] {
  return names.split('+');
}

/** SQL for whether the column `facet` is of a combination of columns. */
export const IS_COMBINED_FACET = `strpos(split_part(facet, '=', 1), '+') > 0`;

/** The parameter with the names of facets. */
export function facetNames(facets: readonly Facet[], values: ParameterValues): string {
  return values.addTyped(facets.map(facetName), 'text[]');
}

/** A value in a name. */
function sized(value: string, isFollowed: boolean): string {
  return isFollowed ? `${Array.from(value).length}:${value}` : value;
}

/**
 * The bounds of the names of the facets that differ only in the value of the last column: the first inclusive, the second
 * exclusive. Names are compared byte by byte, so that no other facet is between them. The first one is what all of these
 * names begin with: see `lastValue`.
 */
export function facetBounds(
  columns: readonly ColumnMetadata[],
  values: readonly string[] = [],
): [first: string, end: string] {
  const first = facetName({ columns, values: [...values.slice(0, columns.length - 1), ''] });
  return [first, textAbove(first) ?? ''];
}

/** SQL for the last value in the column `facet`, by the SQL for the first of the bounds that it is between. */
export function lastValue(first: string): string {
  return `substr(facet, length(${first}) + 1)`;
}

/** The parts of the name of a facet before and behind one of its values, which is not the last one. */
export function aroundValue(
  { columns, values }: Facet,
  at: number,
): [before: string, behind: string] {
  const before = facetName({ columns, values: values.slice(0, at) });
  const behind = values
    .slice(at + 1)
    .map((value, next) => sized(value, at + 1 + next < columns.length - 1));
  return [before, behind.join('')];
}

/** SQL for the name of a facet by its parts of `aroundValue` and the value between them. */
export function facetAround(before: string, value: string, behind: string): string {
  return `${before} || length(${value}) || ':' || ${value} || ${behind}`;
}

/** The values of a facet by the names of its columns in the database, from its name. */
export function facetValues(name: string): [column: string, value: string][] {
  if (name === '') return [];
  const equals = name.indexOf('=');
  const columns = separated(name.slice(0, equals));
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
