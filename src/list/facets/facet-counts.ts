import type { Listing } from '../listing/listing.js';

/**
 * The numbers of a list's objects by the values of fields, as a handler describes them. Nothing has been
 * read yet.
 */
export class FacetCounts {
  /**
   * @param fields single counted columns
   * @param limit most values of each field
   */
  constructor(
    readonly list: Listing,
    readonly fields: readonly string[],
    readonly limit: number | undefined,
  ) {}
}
