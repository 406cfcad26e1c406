import { CredentialsQueryDto } from '../http/parameters/credentials-query.dto.js';
import type { ParameterSettings } from '../http/parameters/declared-parameters.js';
import { IntegerParam } from './parameters.js';

/** One name of `sort`. */
export interface SortKey {
  readonly field: string;
  readonly direction: 'ASC' | 'DESC';
}

/** The default of `limit`: 50, or `MAX_LIMIT` where that is less. */
export function defaultLimit({ maxLimit }: ParameterSettings): number {
  return Math.min(50, maxLimit);
}

// `declare` makes no property: `@QueryOf` makes those parameters, as they depend on the entity.

/** The query of an endpoint that answers with one object. `@QueryOf` names its entity. */
export abstract class ObjectQueryDto extends CredentialsQueryDto {
  /** The fields of each object, in the order of the entity. Default: all. */
  declare fields?: readonly string[];
}

/**
 * The query of a list endpoint. Extend it, add a property for each filter, and decorate the class
 * with `@QueryOf`.
 */
export abstract class ListQueryDto extends ObjectQueryDto {
  @IntegerParam('Most objects to return; 0 answers with the count alone.', (settings) => ({
    minimum: 0,
    maximum: settings.maxLimit,
    default: defaultLimit(settings),
  }))
  limit?: number;

  @IntegerParam('How many matching objects to skip; past the end is an empty page.', {
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
  })
  offset?: number;

  /** The order; ties are ordered by identifier. */
  declare sort?: readonly SortKey[];

  /** Objects changed at this time or later. Only for an entity with an `@UpdateDateColumn`. */
  declare updatedSince?: Date;
}
