import type { VisibleListing } from '../visibility/visible-listing.js';
import type { OrderKey } from '../listing/order.js';
import type { KnownList } from './known-lists.js';
import type { MatchingObjects } from './matching-objects.js';

/** Which objects of a list a page shows, and how. */
export interface PageRequest {
  readonly fields?: readonly string[];
  /** The total order of the list, or of objects of the same relevance. */
  readonly order: readonly OrderKey[];
  readonly isByRelevance: boolean;
  readonly limit: number;
  readonly offset: number;
  /** The identifier of the object behind which the page begins. The offset is then 0. */
  readonly after?: string;
  /** What the client sees. */
  readonly seen: Pick<VisibleListing, 'scope' | 'client'>;
}

/** A page to be read, of any list. */
export interface PageToRead {
  readonly matching: MatchingObjects;
  readonly request: PageRequest;
  /** Whose version the page has. */
  readonly resources: readonly string[];
  /** What is known of the list at the offset of the page. */
  readonly known?: KnownList | undefined;
  /** Whether as many lists of the resource are prepared as may be: the page is planned for its values. */
  readonly isForValues?: boolean;
}
