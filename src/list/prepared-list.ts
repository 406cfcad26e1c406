import type { Page } from '../http/envelope.js';

/** A list whose statements are made and not run yet. */
export interface PreparedList {
  /** Equal for two lists that give the same page on the same data, and for no others. */
  readonly key: string;
  readonly offset: number;
  readonly limit: number;
  /**
   * Whether its conditions only compare columns of its own table with values. Such a list is
   * versioned and has no dependencies.
   */
  readonly isPlain: boolean;
  /**
   * What the list reads whose changes do not change its version: tables, functions, the clock.
   * Empty for most lists.
   */
  dependencies(): Promise<readonly string[]>;
  /**
   * Whether the version of its state changes with everything that the list shows. A list for which
   * it does not is read for every request, and has no entity tag.
   */
  isVersioned(): Promise<boolean>;
  /** The state of its data at some time after the call. */
  state(): Promise<State>;
  /** The page, with the state of the data that it shows. */
  read(): Promise<VersionedPage>;
  /** The whole list: without a limit, unless the request has one. */
  whole(format: StreamFormat): WholeList;
}

/** What is known of the data that a response shows. */
export interface State {
  /** Changes with the data. */
  readonly version: string;
  /** The time, as RFC 3339, before which no change is missing; null as long as that is not known. */
  readonly until: string | null;
}

export interface VersionedPage extends Page, State {}

/** How the objects of a whole list are written. */
export type StreamFormat = 'ndjson' | 'csv';

/** A list that is to be sent whole. */
export interface WholeList {
  /** As `key` of a prepared list. */
  readonly key: string;
  /**
   * Begins to read. Until it is closed, the list holds a connection and a snapshot.
   *
   * @param signal ends the query in progress
   */
  open(signal: AbortSignal): Promise<OpenList>;
}

/** A whole list that is being read, all of it from one snapshot. */
export interface OpenList extends State {
  readonly count: string;
  /** The objects in their order. Each batch is read when it is asked for, and is not empty. */
  readonly batches: AsyncIterable<Batch>;
  close(): Promise<void>;
}

/** Some objects of a list, as text. */
export interface Batch {
  readonly rows: number;
  readonly text: string;
}
