import {
  CredentialsQueryDto,
  type ParameterSettings,
} from '../../http/parameters/declared-parameters.js';
import { type Bounds, IntegerParam } from './parameters.js';

/** The field of a sort key by relevance. No column has this name. */
export const RELEVANCE = '#relevance';

/** One field of `sort`. */
export interface SortKey {
  readonly field: string;
  readonly direction: 'ASC' | 'DESC';
}

/** The default of `limit`: 50, or `MAX_LIMIT` if that is less. */
export function defaultLimit({ maxLimit }: Pick<ParameterSettings, 'maxLimit'>): number {
  return Math.min(50, maxLimit);
}

export function limitBounds(settings: ParameterSettings): Bounds {
  return { minimum: 0, maximum: settings.maxLimit, default: defaultLimit(settings) };
}

// A property with `declare` depends on the entity; `@QueryOf` declares its parameter.

/** The query parameters of an endpoint for one object. Decorate the class with `@QueryOf`. */
export abstract class ObjectQueryDto extends CredentialsQueryDto {
  /** The fields of each object, in the order of the entity. Default: all. */
  declare fields?: readonly string[];

  /** The related objects that each object has. Default: none. */
  declare include?: readonly string[];
}

/**
 * The query parameters of a list endpoint. Extend this class, add a property for each filter, and
 * decorate it with `@QueryOf`.
 */
export abstract class ListQueryDto extends ObjectQueryDto {
  @IntegerParam('Most objects to return; 0 answers with the count alone.', limitBounds, {
    reads: [],
  })
  limit?: number;

  @IntegerParam(
    'How many matching objects to skip; past the end is an empty page.',
    { minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 },
    { reads: [] },
  )
  offset?: number;

  /** The identifier of the object behind which the page begins, as text. */
  declare after?: string;

  /** The order. Ties are ordered by identifier, in the direction of the last key. Default: by identifier. */
  declare sort?: readonly SortKey[];

  /** Only objects changed at this time or later. Available for an entity with an `@UpdateDateColumn`. */
  declare updatedSince?: Date;

  /** Only objects changed last before this time. Available for an entity with an `@UpdateDateColumn`. */
  declare updatedUntil?: Date;

  /** Only objects first stored at this time or later. Available if lists filter or sort by that time. */
  declare createdSince?: Date;

  /** Only objects first stored before this time. Available if lists filter or sort by that time. */
  declare createdUntil?: Date;
}
