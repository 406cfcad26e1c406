import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import { carriedColumnsOf } from '../../resource/carried-columns.js';
import { tableOf } from '../../resource/resource.js';
import { alternativesOf } from '../listing/alternatives.js';
import {
  areEqualities,
  type Criteria,
  criteriaOf,
  facetsOf,
  type Search,
  searchIn,
} from './criteria.js';
import type { SortKey } from '../query/list-query.dto.js';
import type { Listing } from '../listing/listing.js';
import { type Where, whereOf } from '../listing/where.js';
import type { Facet } from '../tally/facet.js';

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

/** The table of a resource as `object`, for WITH. It comes first: see the order of locks in `tallyPage`. */
export function objectTable(metadata: EntityMetadata): string {
  return `object AS NOT MATERIALIZED (SELECT * FROM ${tableOf(metadata)})`;
}
