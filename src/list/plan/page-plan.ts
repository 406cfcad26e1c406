import type { PageToRead } from '../statement/page-request.js';
import type { Keep } from '../statement/prepared-statements.js';
import type { CountPlan } from './count-plan.js';

/** A way to read a page, which says by itself when it fits. */
export interface PagePlan {
  /** For the log of slow lists, traces, metrics and `catalogue explain`. */
  readonly name: string;
  /** Why it does not fit a page; `undefined` if it fits. */
  readonly unfit: (page: PageToRead) => string | undefined;
  /**
   * The statement for a page that it fits. Its row is a `VersionedPage`. Unless the plan is `facet`, it also has `key`,
   * the key of the last object that it found as JSON, `ahead`, the identifiers of those behind the page as JSON, and
   * `begun`, whether there is an object where the page begins. It gives null for what must not be remembered, and refers
   * to every parameter that it adds.
   *
   * @param keep whether its plan must not depend on the values, where that is as good
   */
  readonly statement: (page: PageToRead, keep: 'if frequent' | 'never') => PageStatement;
}

/** The plans by which a page was read and counted. */
export interface PlanTaken {
  readonly name: string;
  readonly count: CountPlan['name'];
}

/** The statement for a page. */
export interface PageStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** With `remembered`, its result is right only at the version of what is known. */
  readonly count: CountPlan['name'];
  /** Not `never` if one plan of PostgreSQL is as good as one for the values. */
  readonly keep: Keep;
}
