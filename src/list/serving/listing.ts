import type { Page } from '../../http/envelope.js';

/** A list that is asked for and not read yet. */
export interface Listing {
  /** Tells it from every list that would answer otherwise on the same data. */
  readonly key: string;
  readonly offset: number;
  readonly limit: number;
  /**
   * Whether the version of its state changes with everything that it shows. A list for which it does
   * not is read for each request, and has no tag.
   */
  isVersioned(): Promise<boolean>;
  /** The state of its data, as it is at some moment after the call. */
  state(): Promise<State>;
  /** The page, with the state of the data that it shows. */
  read(): Promise<VersionedPage>;
  /** The same list without a page's limit, unless one was asked for. */
  whole(format: RowFormat): WholeList;
}

/** What is known of the data that an answer shows. */
export interface State {
  /** Changes with them. */
  readonly version: string;
  /** The time, as RFC 3339, before which no change is missing; null as long as that is not known. */
  readonly until: string | null;
}

export interface VersionedPage extends Page, State {}

/** How the objects of a whole list are written, one after the other. */
export type RowFormat = 'ndjson' | 'csv';

/** A list that shall be sent at once, however long it is. */
export interface WholeList {
  /** As that of a listing. */
  readonly key: string;
  /**
   * Begins to read, with a connection and a snapshot of its own until it is closed.
   *
   * @param signal ends what is under way
   */
  open(signal: AbortSignal): Promise<OpenList>;
}

/** A list that is being read, all of it from one snapshot. */
export interface OpenList extends State {
  readonly count: string;
  /** Its objects in their order, each batch read when it is asked for. Not empty. */
  readonly batches: AsyncIterable<Batch>;
  /** Milliseconds after which it is cut off; unlimited if 0 or absent. */
  readonly timeout?: number;
  close(): Promise<void>;
}

/** Some objects of a list, as text. */
export interface Batch {
  readonly rows: number;
  readonly text: string;
}

export function isListing(answer: Page | Listing): answer is Listing {
  return 'read' in answer;
}
