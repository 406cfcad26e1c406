import type { EntityMetadata } from 'typeorm';
import type { ParameterValues } from '../../database/statement.js';
import { capabilitiesOf } from '../../resource/capabilities.js';
import { declaredColumns } from '../../resource/declaration.js';
import { columnOf, singleCountedColumnsOf } from '../../resource/resource.js';
import { onlyNamed } from '../condition/words.js';
import { areEqualities, compareNothing, type Criteria, facetsOf } from './criteria.js';
import type { Picking } from './picked-objects.js';
import { and } from '../condition/print.js';
import { EVERY_OBJECT, type Facet, facetNames, namesOf } from '../tally/facet.js';
import type { TalliedObjects } from '../tally/position.js';
import {
  countOf,
  countOfColumn,
  facetColumnsOf,
  identifierOrder,
  sortedOrder,
  tallyRows,
} from '../tally/tally.js';
import { wordCountOf, wordTallyOf } from '../tally/word-tally.js';

/**
 * An SQL expression for the number of objects that a list searches for, or null if the tally does not know
 * it; `undefined` if it never does.
 *
 * @param inTitle whether `where` searches only in titles
 */
export function countByWord(
  {
    metadata,
    criteria,
    where,
    values,
  }: Pick<Picking, 'metadata' | 'criteria' | 'where' | 'values'>,
  inTitle: boolean,
): string | undefined {
  if (!criteria?.search || !areEqualities({ ...criteria, search: undefined })) return undefined;
  const { equal, search } = criteria;
  const tally = wordTallyOf(metadata, search);
  if (!tally || equal.size > 1) return undefined;
  const facets = facetsOf(metadata, equal);
  if (!facets) return undefined;
  const count = wordCountOf(tally, search.words, inTitle, facets, values);
  const others = onlyNamed(search, inTitle, values);
  if (others === undefined) return count;
  return `${count} + (SELECT count(*) FROM object ${and(where, others)})`;
}

/**
 * An SQL expression for the number of objects that contain the word of a search, whatever else is compared: 0
 * unless the search is for one word, and a counted one; `undefined` if nothing else is compared.
 */
export function searchSizeOf({ metadata, search, criteria, values }: Picking): string | undefined {
  if (!search || (criteria && compareNothing(criteria))) return undefined;
  const tally = wordTallyOf(metadata, search);
  if (!tally) return undefined;
  return `coalesce(${wordCountOf(tally, search.words, false, [EVERY_OBJECT], values)}, 0)`;
}

/** How many objects a table without a tally is assumed to have. */
const ASSUMED_OBJECTS = 1_000_000;

/**
 * An SQL expression for the number of objects that an index in the order of a list has: all of them, or in
 * the order of the identifier those with the one value of a counted column.
 */
export function indexSizeOf({ metadata, criteria, order, values }: Picking): string {
  if (!capabilitiesOf(metadata).counts) return String(ASSUMED_OBJECTS);
  const single = order.length === 1 && criteria ? [...criteria.equal] : [];
  const facets = single
    .filter(([, equals]) => equals.length === 1)
    .flatMap((criterion) => facetsOf(metadata, new Map([criterion])) ?? []);
  const names = facetNames([EVERY_OBJECT, ...facets], values);
  const rows = tallyRows(identifierOrder(metadata), `WHERE facet = ANY(${names})`);
  return `(SELECT min(count) FROM (SELECT sum(count) AS count FROM ${rows} GROUP BY facet) facets)`;
}

/** Objects whose ranges in the order of a column the tally knows. */
export interface SortedObjects extends TalliedObjects {
  /** Whether their facets are narrow: in the order they are far apart, so that no offset is found in it. */
  readonly isNarrow: boolean;
}

/** The objects with the values of criteria and a value in a column, if it has a tally. */
export function sortedObjects(
  metadata: EntityMetadata,
  name: string,
  { equal }: Criteria,
): SortedObjects | undefined {
  if (!declaredColumns(metadata).sorted.includes(name)) return undefined;
  const order = sortedOrder(metadata, columnOf(metadata, name));
  const facets = facetsOf(metadata, equal, facetColumnsOf(metadata, order));
  if (!facets) return undefined;
  const isNarrow = order.narrow.includes(namesOf(facets[0]?.columns ?? []));
  return { metadata, order, facets, isNarrow };
}

/**
 * An SQL expression for the number of objects with the values of criteria and a value in a column;
 * `undefined` if the tally does not know it.
 */
export function valuedCount(
  metadata: EntityMetadata,
  name: string,
  criteria: Criteria,
  values: ParameterValues,
): string | undefined {
  const sorted = sortedObjects(metadata, name, criteria);
  if (sorted) return countOf(sorted.order, facetNames(sorted.facets, values));
  if (criteria.equal.size > 0 || !singleCountedColumnsOf(metadata).includes(name)) return undefined;
  return countOfColumn(identifierOrder(metadata), columnOf(metadata, name), values);
}

/**
 * An SQL expression for the number of objects with the values of criteria that have no value in its missing column, or none of
 * its excluded values: all with the values, less the others.
 */
export function remainder(
  metadata: EntityMetadata,
  criteria: Criteria,
  values: ParameterValues,
): string | undefined {
  const { equal, missing, excluded } = criteria;
  const order = identifierOrder(metadata);
  const all = facetsOf(metadata, equal);
  // A statement must refer to every parameter that is added.
  if (!all) return undefined;
  const count = (facets: readonly Facet[]): string => countOf(order, facetNames(facets, values));
  const [column] = missing;
  if (column !== undefined) {
    const others = valuedCount(metadata, column, criteria, values);
    return others && `(${count(all)} - ${others})`;
  }
  const others = facetsOf(metadata, new Map([...equal, ...excluded]));
  return others && `(${count(all)} - ${count(others)})`;
}
