import type { PageToRead } from '../statement/page-request.js';
import type { Place } from '../statement/place.js';
import type { Picking } from '../statement/picked-objects.js';

/** A way to count the objects of a list, which says by itself when it fits. */
export interface CountPlan {
  /** For the log of slow lists, traces and `catalogue explain`. */
  readonly name: 'tally' | 'remembered' | 'found' | 'tally or index' | 'index';
  /** Why it does not count the list of a page; `undefined` if it fits. */
  readonly unfit: (page: PageToRead) => string | undefined;
  /**
   * Common table expressions. The last one is `counted`, whose one row has the number of matching objects as `total`.
   *
   * @param place where the page begins, if its objects are picked by an offset
   */
  readonly tables: (page: PageToRead, picking: Picking, place?: Place) => string[];
}
