import { Brackets, type EntityMetadata, type ObjectLiteral, type Repository } from 'typeorm';
import { carriedColumnsOf } from '../resource/carried-columns.js';
import { columnOf, identifierOf, sortedColumnsOf, tableOf } from '../resource/resource.js';
import { valueOf } from '../resource/selection.js';
import { alternativesOf } from './alternatives.js';
import {
  areEqualities,
  type Criteria,
  criteriaOf,
  facetsOf,
  type Search,
  searchIn,
} from './criteria.js';
import { RELEVANCE, type SortKey } from './list-query.dto.js';
import type { Listing } from './listing.js';
import { withOwnParameters } from './own-parameters.js';
import { isPlainCondition } from './plain-conditions.js';
import type { Facet } from './tally/facet.js';

/** What the conditions of a list say. */
export interface Selected {
  /** `undefined` if they say anything else than criteria can. */
  readonly criteria: Criteria | undefined;
  /** The facets that consist of the matching objects; `undefined` if the tally has no such facets. */
  readonly facets: readonly Facet[] | undefined;
  /** The search for words, also beside conditions that criteria cannot say. */
  readonly search: Search | undefined;
}

export function selectedBy({ repository, conditions }: Listing): Selected {
  const criteria = criteriaOf(conditions, repository.metadata);
  const isFacets = criteria && areEqualities(criteria);
  return {
    criteria,
    facets: isFacets ? facetsOf(repository.metadata, criteria.equal) : undefined,
    search: searchIn(conditions),
  };
}

/** The objects that match the conditions of a list, as parts of SQL statements on `object`. */
export interface MatchingObjects extends Selected, Where {
  /**
   * The conditions that the index in the order of the list carries, as `where`, and the others behind
   * `WHERE`. Absent if it carries all of them, or none.
   */
  readonly split?: { readonly carried: string; readonly others: string };
  /**
   * Whether the index of a column that is compared carries all of them, but not every column of the order:
   * then the identifiers of the matching objects are found first, without visiting any object.
   */
  readonly isFoundFirst?: boolean;
  /**
   * The conditions as `where`, in a form for which PostgreSQL reads no index but one in the order of the list;
   * see `plannedOnce`. Default: `where`.
   */
  readonly inOrder?: string;
  /** Absent unless an index of a value and one of an interval may find the objects; see `plannedOnce`. */
  readonly indexChoice?: IndexChoice;
}

/** The choice between two indexes that find the same objects, for a plan that does not depend on the values. */
export interface IndexChoice {
  /** Tables, of which the last one is `rarer`. Its one row has `is_interval`: whether fewer objects are in the interval. */
  readonly tables: readonly string[];
  /** The conditions as `where`, in a form for which PostgreSQL reads the index of the value. */
  readonly byValue: string;
  /** The same for the index of the interval. */
  readonly byInterval: string;
}

/** Conditions on a table in SQL. */
export interface Where {
  /** `WHERE …`, or empty. Its parameters are the first ones of a statement. */
  readonly where: string;
  readonly values: readonly unknown[];
}

/** @param order the total order of the list */
export function matchingObjects(
  { repository, conditions }: Listing,
  selected: Selected,
  order: readonly SortKey[],
): MatchingObjects {
  if (conditions.length < 2) return { ...selected, ...whereOf(repository, conditions) };
  const [first] = order;
  const { metadata } = repository;
  const columns = first ? carriedColumnsOf(metadata, first.field) : [];
  const compared = (condition: ObjectLiteral): string[] =>
    alternativesOf(condition).flatMap((alternative) => Object.keys(alternative));
  const isCarried = (condition: ObjectLiteral): boolean =>
    compared(condition).every((column) => columns.includes(column));
  const every = conditions.flatMap(compared);
  const isFoundFirst = every.some((column) => {
    const carried = carriedColumnsOf(metadata, column);
    return (
      every.every((each) => carried.includes(each)) &&
      !order.every(({ field }) => carried.includes(field))
    );
  });
  const carried = conditions.filter(isCarried);
  const others = conditions.filter((condition) => !isCarried(condition));
  const all = { isFoundFirst, ...whereOf(repository, [...carried, ...others]) };
  if (carried.length === 0 || others.length === 0) return { ...selected, ...all };
  // The parameters have the same numbers, since they come first.
  const { where } = whereOf(repository, carried);
  // TypeORM could put brackets around all conditions.
  if (!all.where.startsWith(`${where} AND `)) return { ...selected, ...all };
  const rest = all.where.slice(`${where} AND `.length);
  return { ...selected, ...all, split: { carried: where, others: `WHERE ${rest}` } };
}

/**
 * The objects that match all of some conditions.
 *
 * @param table the name of the table in the statement
 */
export function whereOf(
  repository: Repository<ObjectLiteral>,
  conditions: readonly ObjectLiteral[],
  table = 'object',
): Where {
  if (conditions.length === 0) return { where: '', values: [] };
  const builder = repository.createQueryBuilder(table).select('1');
  for (const [at, condition] of withOwnParameters(conditions).entries()) {
    // An OR in SQL of one condition must not reach over the others.
    const isPlain = isPlainCondition(repository.metadata, conditions[at] ?? {});
    builder.andWhere(isPlain ? condition : new Brackets((bracketed) => bracketed.where(condition)));
  }
  const [text, values] = builder.getQueryAndParameters() as [string, unknown[]];
  const where = text.replace(/^SELECT 1 FROM (?:"[^"]+"\.)?"[^"]+" "\w+"/, '').trimStart();
  return { where: withComputed(repository.metadata, where, `"${table}"`), values };
}

/**
 * Conditions, without `WHERE`, with other texts for their parameters; `undefined` if there is none. Texts and
 * names stay as they are.
 *
 * @param parameter the text for a value
 */
export function placed(
  { where, values }: Where,
  parameter: (value: unknown) => string,
): string | undefined {
  if (where === '') return undefined;
  const parameters = values.map(parameter);
  return where
    .replace(/^WHERE /, '')
    .replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\d+)/g, (text, at?: string) =>
      at === undefined ? text : (parameters[Number(at) - 1] ?? text),
    );
}

/** Conditions in SQL with the queries of computed fields, which TypeORM takes for columns. */
function withComputed({ columns }: EntityMetadata, where: string, table: string): string {
  return columns
    .filter(({ isVirtualProperty }) => isVirtualProperty)
    .reduce((text, column) => {
      const name = `${table}."${column.databaseName}"`;
      return text.replaceAll(name, () => valueOf(column, table));
    }, where);
}

/** The table of a resource as `object`, for WITH. It comes first: see the order of locks in `tallyPage`. */
export function objectTable(metadata: EntityMetadata): string {
  return `object AS NOT MATERIALIZED (SELECT * FROM ${tableOf(metadata)})`;
}

/** Whether a list is in the order of relevance, and then in that of its other sort keys. */
export function isByRelevance(sort: readonly SortKey[] = []): boolean {
  return sort[0]?.field === RELEVANCE;
}

/**
 * The order of a list by columns. The identifier comes last and is unique, so the order is total. Relevance
 * is left out.
 */
export function totalOrder(metadata: EntityMetadata, keys: readonly SortKey[] = []): SortKey[] {
  const { propertyName: identifier } = identifierOf(metadata);
  const sort = keys.filter(({ field }) => field !== RELEVANCE);
  const at = sort.findIndex(({ field }) => field === identifier);
  return at < 0
    ? [...sort, { field: identifier, direction: 'ASC' }]
    : // Keys after the identifier change nothing.
      sort.slice(0, at + 1);
}

/**
 * ORDER BY of a list. Objects without a value come last in both directions.
 *
 * @param table the table in SQL whose columns it names
 * @param first an SQL expression that comes before them
 */
export function orderBy(
  metadata: EntityMetadata,
  order: readonly SortKey[],
  table = 'object',
  first?: string,
): string {
  const keys = order.map(({ field, direction }) => {
    return `${table}."${field}" ${direction === 'ASC' ? 'ASC' : descendingIn(metadata, field)}`;
  });
  return `ORDER BY ${[...(first === undefined ? [] : [first]), ...keys].join(', ')}`;
}

/** The descending order by a column, in which objects without a value come last, as in the ascending one. */
export function descendingIn(metadata: EntityMetadata, field: string): string {
  return hasNullsLast(metadata, field) ? 'DESC NULLS LAST' : 'DESC';
}

/** The reverse of `orderBy`. PostgreSQL reads the same index backwards. */
export function reverseOrderBy(metadata: EntityMetadata, order: readonly SortKey[]): string {
  const keys = order.map(({ field, direction }) => {
    const ascending = hasNullsLast(metadata, field) ? 'ASC NULLS FIRST' : 'ASC';
    return `object."${field}" ${direction === 'ASC' ? 'DESC' : ascending}`;
  });
  return `ORDER BY ${keys.join(', ')}`;
}

/**
 * Whether a descending order says where objects without a value come. It does so also where every object
 * has a value: only so does the planner use a descending index of the lists.
 */
function hasNullsLast(metadata: EntityMetadata, field: string): boolean {
  return columnOf(metadata, field).isNullable || sortedColumnsOf(metadata).includes(field);
}
