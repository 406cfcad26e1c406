import { CredentialsQueryDto } from '../http/parameters/credentials-query.dto.js';
import { IntegerParam } from './parameters.js';

/** The number of objects that a page has unless said, and the most that may be asked for. */
export const pageSize = { standard: 50, least: 0, most: 1000 };

/** One name of `sort`. */
export interface SortKey {
  readonly field: string;
  readonly direction: 'ASC' | 'DESC';
}

/** The query of an endpoint that answers with one object; `@QueryOf` says of which resource. */
export abstract class ObjectQueryDto extends CredentialsQueryDto {
  /** The fields that each object shall have, in the resource's own order; all unless given. */
  fields?: readonly string[];
}

/**
 * The query of a list endpoint: extend it, add a property a filter, and put `@QueryOf` before it.
 */
export abstract class ListQueryDto extends ObjectQueryDto {
  @IntegerParam('Most objects to return; 0 answers with the count alone.', pageSize)
  limit?: number;

  @IntegerParam('How many matching objects to skip; past the end is an empty page.', {
    least: 0,
    most: Number.MAX_SAFE_INTEGER,
    standard: 0,
  })
  offset?: number;

  /** The order; the identifier is always the last tie-break. */
  sort?: readonly SortKey[];
}
