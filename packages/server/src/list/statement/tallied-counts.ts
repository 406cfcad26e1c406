import type { EntityMetadata } from 'typeorm';
import { ParameterValues } from '../../database/statement.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { columnOf, singleCountedColumnsOf } from '../../resource/resource.js';
import {
  countOf,
  countOfColumn,
  countWhere,
  type Facet,
  facetNames,
  wordCountOf,
} from '../../tally/facet.js';
import {
  type CellTally,
  cellTallyOf,
  itemTallyOf,
  tallyOf,
  wordTallyOf,
} from '../../tally/described-tally.js';
import { type CellBound, Cells, type TalliedObjects, TallyRanks } from '../../tally/ranks.js';
import type { Bound, Condition } from '../condition/condition.js';
import { and, identifiersText } from '../condition/print.js';
import { onlyNamed } from '../condition/words.js';
import {
  areEqualities,
  type Criteria,
  criteriaOf,
  facetsOf,
  type Interval,
  isBounded,
  type Item,
  onlyInterval,
} from './criteria.js';

/** A number of objects in SQL. */
export interface Counted {
  /** Common table expressions that `total` refers to. */
  readonly tables: readonly string[];
  readonly total: string;
}

/** The conditions of a list as `WHERE …`, and the parameters of its statement. */
interface Counting {
  readonly where: string;
  readonly values: ParameterValues;
}

/** What the tally knows of the objects that meet some conditions. */
export interface Tallied {
  /** `undefined` if the conditions say anything else than criteria can. */
  readonly criteria: Criteria | undefined;
  /** The facets that consist of the objects; `undefined` if the tally has no such facets. */
  readonly facets: readonly Facet[] | undefined;
  /** Their number; `undefined` if the tally never knows it. */
  readonly tallied: TalliedCount | undefined;
}

/** What the tally says of the number of matching objects. */
interface TalliedCount {
  /**
   * Whether it needs nothing but the tally. Otherwise `total` also reads objects, or is null if the tally does not know the
   * number.
   */
  readonly isSure: boolean;
  readonly sql: (list: Counting) => Counted;
}

/** An SQL expression for a number that the tally always knows. */
type Count = (values: ParameterValues) => string;

/** What the tally knows of the objects that meet conditions. */
export function talliedBy(metadata: EntityMetadata, conditions: readonly Condition[]): Tallied {
  const criteria = criteriaOf(conditions, metadata);
  if (!criteria) return { criteria, facets: undefined, tallied: undefined };
  const facets = areEqualities(criteria) ? facetsOf(metadata, criteria.equal) : undefined;
  return { criteria, facets, tallied: talliedCount(metadata, criteria, facets) };
}

/** `undefined` if the tally never knows the number. */
function talliedCount(
  metadata: EntityMetadata,
  criteria: Criteria,
  facets: Tallied['facets'],
): TalliedCount | undefined {
  if (facets) return always((values) => countOfFacets(metadata, facets, values));
  if (criteria.item) return always(countByItem(metadata, criteria.item, criteria));
  if (criteria.search) {
    const byWord = countByWord(metadata, criteria, false);
    return byWord && { isSure: false, sql: (list) => ({ tables: [], total: byWord(list) }) };
  }
  const interval = onlyInterval(criteria);
  if (!interval) return always(remainder(metadata, criteria));
  const objects = sortedObjects(metadata, interval.column, criteria);
  if (!isBounded(interval)) {
    const valued = valuedCount(metadata, interval.column, criteria);
    if (valued) return always(valued);
  }
  if (!objects) return countByCells(metadata, interval, criteria);
  return { isSure: true, sql: ({ values }) => countedBetween(interval, objects, values) };
}

function always(count: Count | undefined): TalliedCount | undefined {
  return count && { isSure: true, sql: ({ values }) => ({ tables: [], total: count(values) }) };
}

/** The number of objects in an interval with the values of criteria, by the cells of the column. */
function countByCells(
  metadata: EntityMetadata,
  interval: Interval,
  { equal }: Criteria,
): TalliedCount | undefined {
  const order = cellTallyOf(metadata, interval.column);
  const facets = order && facetsOf(metadata, equal, order);
  if (!facets) return undefined;
  const isRead = isBounded(interval);
  return {
    isSure: !isRead,
    sql: ({ where, values }) => {
      const cells = cellsOf(order, interval, values);
      const whole = cells.countOf(facetNames(facets, values));
      const objects = isRead
        ? ` + (SELECT count(*) FROM (${cells.objects('', where)}) objects)`
        : '';
      return { tables: cells.tables, total: `(${whole}${objects})` };
    },
  };
}

/**
 * The cells of an interval.
 *
 * @param name see `Cells`; by default that of the column
 */
export function cellsOf(
  order: CellTally,
  { lower, upper }: Interval,
  values: ParameterValues,
  name = `_by_${order.column.databaseName}`,
): Cells {
  const type = sqlTypeOf(order.column);
  const bound = ({ value, inclusive }: Bound): CellBound => ({
    value: `(${values.addTyped(value, type)})`,
    inclusive,
  });
  return new Cells(
    order,
    { ...(lower && { lower: bound(lower) }), ...(upper && { upper: bound(upper) }) },
    name,
  );
}

/** The number of matching objects: by the tally if it knows it, and by an index otherwise. */
export function countMatching(
  list: Counting & Pick<Tallied, 'tallied'> & { readonly conditions: readonly Condition[] },
): Counted {
  const byIndex = countOfParents(list.conditions) ?? `(SELECT count(*) FROM object ${list.where})`;
  if (!list.tallied) return { tables: [], total: byIndex };
  const { tables, total } = list.tallied.sql(list);
  return { tables, total: list.tallied.isSure ? total : `coalesce(${total}, ${byIndex})` };
}

/**
 * An SQL expression for the number of objects that have a child with given values; `undefined` if the list has any other
 * condition. It counts the different parents that these children refer to, and reads no parent. Its parameters are those
 * of the conditions, which are the first ones of a statement.
 */
function countOfParents([condition, ...others]: readonly Condition[]): string | undefined {
  if (condition?.kind !== 'identifiers' || others.length > 0) return undefined;
  const { query } = condition;
  if (!query.isOfListed) return undefined;
  const children = identifiersText(query, new ParameterValues());
  return `(SELECT count(DISTINCT "${query.selected}") FROM (${children}) child)`;
}

/** An SQL expression for the number of objects of facets. */
export function countOfFacets(
  metadata: EntityMetadata,
  facets: readonly Facet[],
  values: ParameterValues,
): string {
  return countOf(tallyOf(metadata).byIdentifier, facetNames(facets, values));
}

/**
 * An SQL expression for the number of objects that a list searches for, or null if the tally does not know
 * it; `undefined` if it never does.
 *
 * @param inTitle whether `where` searches only in titles
 */
export function countByWord(
  metadata: EntityMetadata,
  { search, ...others }: Criteria,
  inTitle: boolean,
): ((list: Counting) => string) | undefined {
  if (!search || !areEqualities(others)) return undefined;
  const tally = wordTallyOf(metadata, search);
  const facets = tally && facetsOf(metadata, others.equal, tally);
  if (!facets) return undefined;
  return ({ where, values }) => {
    const count = wordCountOf(tally, search.words, inTitle, facets, values);
    // With those that the text names, which `relevance` takes off.
    if (inTitle) return count;
    const named = onlyNamed(search, values);
    return named === undefined
      ? count
      : `${count} + (SELECT count(*) FROM object ${and(where, named)})`;
  };
}

/** The number of objects with an item in an array; `undefined` if the tally does not know it beside the other criteria. */
function countByItem(
  metadata: EntityMetadata,
  { column, value }: Item,
  criteria: Criteria,
): Count | undefined {
  const tally = itemTallyOf(metadata, column);
  if (!tally || !areEqualities({ ...criteria, item: undefined })) return undefined;
  const facets = facetsOf(metadata, criteria.equal, tally);
  return (
    facets &&
    ((values) => {
      const [item, names] = [isItem(value, values), facetNames(facets, values)];
      return countWhere(tally, `${item} AND facet = ANY(${names})`);
    })
  );
}

/** The condition that rows of the tally of an array are of an item, in SQL. */
export function isItem(value: Item['value'], values: ParameterValues): string {
  return value === null ? 'word IS NULL' : `word = ${values.addTyped(value, 'text')}`;
}

/** The objects with the values of criteria and a value in a column, if it has a tally. */
export function sortedObjects(
  metadata: EntityMetadata,
  name: string,
  { equal }: Criteria,
): TalliedObjects | undefined {
  const order = tallyOf(metadata).byValue.find(({ column }) => column?.propertyName === name);
  const facets = order && facetsOf(metadata, equal, order);
  return facets && { metadata, order, facets };
}

/** The number of objects in an interval, with their ranks, and the table `outside`: how many are `below` it and `above`. */
export function countedBetween(
  { column, lower, upper }: Interval,
  objects: TalliedObjects,
  values: ParameterValues,
): Counted & { readonly ranks: TallyRanks } {
  const ranks = new TallyRanks(objects, values);
  const type = sqlTypeOf(columnOf(objects.metadata, column));
  const bound = ({ value }: Bound): string => `(${values.addTyped(value, type)})`;
  const below = lower ? ranks.below(bound(lower), !lower.inclusive) : '0';
  const above = upper ? `${ranks.total} - ${ranks.below(bound(upper), upper.inclusive)}` : '0';
  ranks.tables.push(`outside AS MATERIALIZED (SELECT ${below} AS below, ${above} AS above)`);
  return {
    ranks,
    tables: ranks.tables,
    // If the lower bound is above the upper one, objects between them are outside twice.
    total: `(SELECT greatest(0, ${ranks.total} - below - above) FROM outside)`,
  };
}

/** The number of objects with the values of criteria and a value in a column; `undefined` if the tally does not know it. */
function valuedCount(
  metadata: EntityMetadata,
  name: string,
  criteria: Criteria,
): Count | undefined {
  const sorted = sortedObjects(metadata, name, criteria);
  if (sorted) return (values) => countOf(sorted.order, facetNames(sorted.facets, values));
  if (criteria.equal.size > 0 || !singleCountedColumnsOf(metadata).includes(name)) return undefined;
  const { byIdentifier } = tallyOf(metadata);
  return (values) => countOfColumn(byIdentifier, columnOf(metadata, name), values);
}

/**
 * The number of objects with the values of criteria that have no value in the one missing column, none of the excluded
 * values, or not the lacking item: all with the values, less the others. `undefined` if criteria say anything else.
 */
function remainder(metadata: EntityMetadata, criteria: Criteria): Count | undefined {
  const { equal, intervals, missing, excluded, lacking } = criteria;
  const left = missing.length + excluded.size + (lacking ? 1 : 0);
  if (intervals.length > 0 || left !== 1) return undefined;
  const count = (values: typeof equal): Count | undefined => {
    const facets = facetsOf(metadata, values);
    return facets && ((parameters) => countOfFacets(metadata, facets, parameters));
  };
  const [column] = missing;
  const all = count(equal);
  const others = lacking
    ? countByItem(metadata, lacking, { ...criteria, lacking: undefined })
    : column === undefined
      ? count(new Map([...equal, ...excluded]))
      : valuedCount(metadata, column, criteria);
  return all && others && ((values) => `(${all(values)} - ${others(values)})`);
}
