import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { EntityMetadata } from 'typeorm';
import { unindexed } from '../../database/planner.js';
import { ParameterValues, type Statement, statement } from '../../database/statement.js';
import { columnOf, hasOwnTable, isBroad } from '../../resource/resource.js';
import { type ColumnCondition, columnConditions } from '../condition/condition.js';
import { and, sqlOf } from '../condition/print.js';
import { areEqualities, type Criteria } from './criteria.js';
import type { MatchingObjects, PageToRead } from './page-statement.js';

/**
 * Whether connections prepare a statement. `if frequent`: clients choose what its text depends on, so that there may be
 * many variants.
 */
export type Preparing = 'always' | 'if frequent' | 'never';

/** Maximum number of frequent statements of a resource. Each connection keeps every prepared statement. */
const MAXIMUM_FREQUENT = 100;
/** After so many requests a statement is frequent. */
const FREQUENT = 5;
/** Of so many other statements it is known how often they were asked for. */
const MAXIMUM_OTHERS = 1000;

/** The statements of one resource. */
class OfResource {
  /** By text, which is compared faster than its digest is made. */
  private readonly prepared = new Map<string, Statement>();
  private readonly requests = new LRUCache<string, number>({ max: MAXIMUM_OTHERS });
  private frequent = 0;

  get isFull(): boolean {
    return this.frequent >= MAXIMUM_FREQUENT;
  }

  of(text: string, prepare: Preparing): Statement {
    const known = this.prepared.get(text);
    if (known) return known;
    const made = statement(text, {
      prepared: prepare === 'always' || this.isFrequent(text, prepare),
    });
    if (made.prepared) this.prepared.set(text, made);
    return made;
  }

  /** Counts a request. Returns whether the statement becomes one of the frequent ones: the first that are. */
  private isFrequent(text: string, prepare: Preparing): boolean {
    if (prepare === 'never' || this.isFull) return false;
    const count = (this.requests.get(text) ?? 0) + 1;
    this.requests.set(text, count);
    if (count < FREQUENT) return false;
    this.requests.delete(text);
    this.frequent += 1;
    return true;
  }
}

/** Decides which statements connections prepare. */
@Injectable()
export class PreparedStatements {
  private readonly resources = new WeakMap<EntityMetadata, OfResource>();

  /** The statement on a resource with a text. */
  of(metadata: EntityMetadata, text: string, prepare: Preparing): Statement {
    return this.ofResource(metadata).of(text, prepare);
  }

  /** Whether no further statement on a resource becomes a frequent one. */
  isFull(metadata: EntityMetadata): boolean {
    return this.ofResource(metadata).isFull;
  }

  private ofResource(metadata: EntityMetadata): OfResource {
    let statements = this.resources.get(metadata);
    if (!statements) this.resources.set(metadata, (statements = new OfResource()));
    return statements;
  }
}

/**
 * The objects of a list with the values of its conditions in subqueries, so that one plan is as good as one for
 * the values, and PostgreSQL may keep it; `undefined` if the best plan depends on the values. It does so if the
 * conditions leave a choice of indexes to find the objects: of two values, or of a value and an interval, the
 * rarer one has to lead. Of an external table, the types of the columns are not known by name.
 */
export function plannedOnce({
  matching,
  request,
  isForValues = false,
}: PageToRead): MatchingObjects | undefined {
  const { order, offset, fields, isByRelevance, after, seen } = request;
  // Clients choose the fields, and each scope has conditions of its own: there are too many variants.
  if (fields !== undefined || seen.scope.length > 0) return undefined;
  if (isForValues || isByRelevance || after !== undefined) return undefined;
  const { metadata, split, criteria, conditions } = matching;
  if (!hasOwnTable(metadata) || !criteria) return undefined;
  const isSearchWithin = offset === 0 && order.length === 1 && isSearchWithinValue(criteria);
  if (!isSearchWithin && (split || !hasOneWay(metadata, criteria))) return undefined;
  // From the place of the tally on, objects with one of several rare values may be far apart.
  if (offset > 0 && [...criteria.equal.values()].some(({ length }) => length > 1)) return undefined;
  const [first, ...others] = order;
  // Most of the time goes to the objects before the place, which a plan for the values reads faster.
  if (
    offset > 0 &&
    criteria.intervals.some(({ column }) => column !== first?.column.propertyName)
  ) {
    return undefined;
  }
  const compared = columnConditions(conditions);
  if (compared.some(({ column }) => columnOf(metadata, column).isVirtualProperty)) return undefined;
  const values = new ParameterValues([], true);
  const parts = compared.map((condition) => ({
    condition,
    sql: sqlOf(condition, { metadata, values }),
  }));
  /** Whether an index in the order of the list may find objects by a condition. */
  const isInOrder = (condition: ColumnCondition): boolean =>
    condition.column === first?.column.propertyName ||
    (others.length === 0 && condition.kind === 'equal' && condition.values.length === 1);
  return {
    ...matching,
    split: undefined,
    where: and('', ...parts.map(({ sql }) => sql)),
    inOrder: and(
      '',
      ...parts.map(({ condition, sql }) => (isInOrder(condition) ? sql : unindexed(sql))),
    ),
    values: values.values,
  };
}

/**
 * Whether the conditions search for words among the objects with one value of a column. The statement decides
 * whether to find the words first, or to read the objects with the value in their order.
 */
function isSearchWithinValue(criteria: Criteria): boolean {
  const { search, equal } = criteria;
  const [values] = equal.values();
  const isOneValue = equal.size === 1 && values?.length === 1;
  return isOneValue && !!search && areEqualities({ ...criteria, search: undefined });
}

/** Whether the conditions have at most one part by which an index finds few objects. */
function hasOneWay(metadata: EntityMetadata, criteria: Criteria): boolean {
  const { equal, intervals, search } = criteria;
  if (areEqualities(criteria)) {
    return [...equal.keys()].filter((name) => !isBroad(metadata, name)).length <= 1;
  }
  const isAlone = equal.size + criteria.missing.length + criteria.excluded.size === 0;
  return isAlone && intervals.length + (search ? 1 : 0) === 1;
}
