import type { EntityMetadata } from 'typeorm';
import { ParameterValues } from '../../database/statement.js';
import { carriedColumnsOf } from '../../resource/list-indexes.js';
import { tableOf } from '../../resource/resource.js';
import { columnsIn, type Condition, type WordSearch } from '../condition/condition.js';
import { and, sqlOf } from '../condition/print.js';
import { searchIn } from './criteria.js';
import type { OrderKey } from '../listing/order.js';
import type { VisibleListing } from '../visibility/visible-listing.js';
import { type Tallied, talliedBy } from './tallied-counts.js';

/** The objects that match the conditions of a list, as parts of SQL statements on `object`. */
export interface MatchingObjects extends Tallied {
  readonly metadata: EntityMetadata;
  /** The search for words, also beside conditions that criteria cannot say. */
  readonly search: WordSearch | undefined;
  /** The conditions of the list, those first that the index in its order carries. */
  readonly conditions: readonly Condition[];
  /** The conditions as `WHERE …`, or empty. Their parameters are the first ones of a statement. */
  readonly where: string;
  readonly values: readonly unknown[];
  /**
   * The conditions that the index in the order of the list carries, as `where`, and the others behind
   * `WHERE`. Absent if it carries all of them, or none.
   */
  readonly split?: Split;
  /**
   * Whether the index of a column that is compared carries all of them, but not every column of the order:
   * then the identifiers of the matching objects are found first, without visiting any object.
   */
  readonly isLookedUp?: boolean;
  /**
   * The conditions as `where`, in a form for which PostgreSQL reads no index but one in the order of the list;
   * see `plannedOnce`. Default: `where`.
   */
  readonly inOrder?: string;
}

/** Conditions of which an index carries the first ones. */
interface Split {
  readonly carriedCount: number;
  readonly carried: string;
  readonly others: string;
}

/** @param order the total order of the list */
export function matchingObjects(
  { repository: { metadata }, conditions }: VisibleListing,
  order: readonly OrderKey[],
): MatchingObjects {
  const values = new ParameterValues();
  const context = { metadata, values };
  const [first] = order;
  const columns = first ? carriedColumnsOf(metadata, first.column.propertyName) : [];
  const isCarried = (condition: Condition): boolean =>
    columnsIn([condition]).every((column) => columns.includes(column));
  const [carried, others] = [
    conditions.filter(isCarried),
    conditions.filter((condition) => !isCarried(condition)),
  ];
  const carriedSql = carried.map((condition) => sqlOf(condition, context));
  const othersSql = others.map((condition) => sqlOf(condition, context));
  const every = columnsIn(conditions);
  const isLookedUp =
    conditions.length > 1 &&
    every.some((column) => {
      const along = carriedColumnsOf(metadata, column);
      return (
        every.every((each) => along.includes(each)) &&
        !order.every(({ column: { propertyName } }) => along.includes(propertyName))
      );
    });
  const isSplit = carried.length > 0 && others.length > 0;
  return {
    metadata,
    ...talliedBy(metadata, conditions),
    search: searchIn(conditions),
    conditions: [...carried, ...others],
    isLookedUp,
    where: and('', ...carriedSql, ...othersSql),
    values: values.values,
    ...(isSplit && {
      split: {
        carriedCount: carried.length,
        carried: and('', ...carriedSql),
        others: and('', ...othersSql),
      },
    }),
  };
}

/** The table of a resource as `object`, for WITH. It comes first: see the order of locks in `src/list/plan/facet.ts`. */
export function objectTable(metadata: EntityMetadata): string {
  return `object AS NOT MATERIALIZED (SELECT * FROM ${tableOf(metadata)})`;
}
