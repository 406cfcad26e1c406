import type { PageToRead } from '../statement/page-statement.js';
import type { Picking } from '../statement/picked-objects.js';
import type { Depth } from '../statement/picked-by-offset.js';
import type { Preparing } from '../statement/prepared-statements.js';

/** A way to read a page, or to count its list. */
interface Plan<Name extends string, Made extends object> {
  /** For the log of slow lists, traces, metrics and `catalogue explain`. */
  readonly name: Name;
  /** What it makes of a page, or the reason why it does not fit. */
  readonly of: (page: PageToRead) => Made | string;
}

export type PagePlan = Plan<string, PageStatement>;
export type CountPlan = Plan<
  'tally' | 'remembered' | 'collected' | 'tally or index' | 'index',
  Counting
>;

/**
 * Gives common table expressions. The last one is `counted`, whose one row has the number of matching objects as `total`.
 *
 * @param depth how deep in its list the page begins, if its objects are picked by an offset
 */
type Counting = (picking: Picking, depth?: Depth) => string[];

/** A plan that was tried, and why it does not fit. */
export interface UnfitPlan {
  readonly name: string;
  readonly reason: string;
}

/** The first plan that fits, with what it makes. */
interface Taken<Name extends string, Made extends object> {
  readonly name: Name;
  readonly made: Made;
  /** The plans before it. */
  readonly unfit: readonly UnfitPlan[];
}

export type CountTaken = Taken<CountPlan['name'], Counting>;

/** The plans by which a page was read and counted. */
export interface PlanTaken {
  readonly name: string;
  readonly count: CountPlan['name'];
}

/**
 * The statement for a page. Its row is a `VersionedPage`. Unless the plan is `facet`, it also has `key`, the key of the last
 * object that it found as JSON, `ahead`, the identifiers of those behind the page as JSON, and `begun`, whether there is an
 * object where the page begins. It gives null for what must not be remembered, and refers to every parameter.
 */
export interface PageStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** With `remembered`, its result is right only at the version of what is known. */
  readonly count: Omit<CountTaken, 'made'>;
  /** Not `never` if one plan of PostgreSQL is as good as one for the values. */
  readonly prepare: Preparing;
}

/** @param plans of which the last one fits any page */
export function firstFit<Name extends string, Made extends object>(
  plans: readonly Plan<Name, Made>[],
  page: PageToRead,
): Taken<Name, Made> {
  const unfit: UnfitPlan[] = [];
  for (const { name, of } of plans) {
    const made = of(page);
    if (typeof made !== 'string') return { name, made, unfit };
    unfit.push({ name, reason: made });
  }
  throw new TypeError('No plan fits the page');
}
