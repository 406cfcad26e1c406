import type { Page } from './envelope.js';

/** A list that is asked for and not read yet. */
export interface Listing {
  /** Tells it from every list that would answer otherwise on the same data. */
  readonly key: string;
  readonly offset: number;
  readonly limit: number;
  /** The version of its data, as it is at some moment after the call. */
  version(): Promise<string>;
  /** The page, with the version of the data that it shows. */
  read(): Promise<VersionedPage>;
}

export interface VersionedPage extends Page {
  readonly version: string;
}

export function isListing(answer: Page | Listing): answer is Listing {
  return 'read' in answer;
}
