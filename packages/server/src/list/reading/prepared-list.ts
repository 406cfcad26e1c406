import { hash } from 'node:crypto';
import type { Page } from '../../http/envelope.js';
import type { StreamFormat } from '../../http/negotiation.js';
import type { PlanTaken, UnfitPlan } from '../plan/plan.js';

/** Where a page begins in its list, and how many objects it has at most. */
export interface PagePlace {
  /** Absent: the page begins behind an object, and its offset is not known. */
  readonly offset?: number;
  readonly limit: number;
}

/** What is read of resources, and when it changes. */
export interface Prepared {
  /** The resource whose objects it shows or counts. */
  readonly resource: string;
  /** See `VisibleListing`. */
  readonly isVersioned: boolean;
  /** See `VisibleListing`. */
  readonly isPartial: boolean;
  /** The state of its data, from a query that begins after the call. */
  readonly state: () => Promise<State>;
  /** Waits for another version of its data: see `Versions.wait`. */
  readonly wait: (version: string, seconds: number, listener: () => void) => () => void;
  /** Whether its client asks for changes since a time. */
  readonly isOfChanges?: boolean;
}

/** What is sent object by object, from one snapshot. */
export interface PreparedStream extends Prepared {
  /** It has no default limit. */
  whole(format: StreamFormat): WholeList;
}

/** A page of a list, or facet counts, whose statement is built but not run yet. */
export interface PreparedPage extends Prepared {
  /** Equal keys mean equal pages of the same data. A hash. */
  readonly key: string;
  /** Absent for facet counts: there is no page before or behind them. */
  readonly place?: PagePlace;
  /** Reads the page, with the state of the data that it shows. */
  read(): Promise<ReadPage>;
}

/** A list whose statements are built but not run yet. */
export interface PreparedList extends PreparedPage, PreparedStream {
  /** Reads the page as if nothing of its list was remembered, and says how. */
  explain(): Promise<Explanation>;
}

/** The state of the data that a response shows. */
export interface State {
  /** Changes with every commit that writes to the resource. */
  readonly version: string;
  /** The watermark: the data include every change before this RFC 3339 time, with its mark; null if unknown. */
  readonly until: string | null;
}

/** A page with the state of the data that it shows. */
export interface VersionedPage extends Page, State {
  /** What the tally counts, as `stateOf` reads it; null without a tally. */
  readonly tally: string | null;
  /** The number of its objects, an integer as text. */
  readonly rows: string;
  /** The identifier of its last object; may be null if it has fewer than `limit`. */
  readonly last: string | null;
}

export interface ReadPage extends VersionedPage {
  /** How it was read; absent for facet counts. */
  readonly plan?: PlanTaken;
}

/** How a page is read. */
export interface Explanation {
  readonly taken: PlanTaken;
  /** The plans of pages that were tried before the one that is taken. */
  readonly unfit: readonly UnfitPlan[];
  /** The ways to count that were tried before the one that is taken. */
  readonly uncounted: readonly UnfitPlan[];
  readonly statement: string;
  readonly values: readonly unknown[];
  /** What PostgreSQL did to run the statement, as lines. */
  readonly analysis: readonly string[];
}

/** A list that can be read as a whole. */
export interface WholeList {
  /** As `PreparedList.key`. */
  readonly key: string;
  /**
   * Opens the list. It holds a connection and a snapshot until it is closed.
   *
   * @param signal cancels the query in progress
   */
  open(signal: AbortSignal): Promise<OpenList>;
}

/** A whole list that is being read from one snapshot. */
export interface OpenList extends State {
  readonly count: string;
  /** The objects in order. Each batch is read on demand. */
  readonly batches: AsyncIterable<Batch>;
  close(): Promise<void>;
}

/** Consecutive objects of a list, as text. */
export interface Batch {
  readonly rows: number;
  readonly text: string;
}

/** A key of texts and parameter values: equal for equal ones only, and none can tell them from it. */
export function listKeyOf(...parts: readonly unknown[]): string {
  return hash('sha256', textOf(parts), 'base64url');
}

/**
 * The text of a value. No such text is the beginning of another one, so that they can be joined. JSON alone takes three times
 * as long, and has the same text for infinite numbers, `NaN`, `undefined` and null.
 */
function textOf(value: unknown): string {
  if (typeof value === 'string') return `${value.length} ${value}`;
  if (Array.isArray(value)) return `[${value.map(textOf).join('')}]`;
  return typeof value === 'object' && value !== null
    ? `object ${textOf(JSON.stringify(value))}`
    : `${typeof value} ${String(value)},`;
}
