import type { EntityMetadata, ObjectLiteral, Repository } from 'typeorm';
import { nameOf } from '../../resource/resource.js';
import { type Condition, withVisible } from '../condition/condition.js';
import { type Conditions, conditionsOf, type RequiredFilter } from '../condition/filters.js';
import type { ListQueryDto, ObjectQueryDto } from '../query/list-query.dto.js';
import { requireEntity } from '../query/query-of.js';

/** The conditions for the objects of an entity that a client sees, combined with AND. Empty: it sees all of them. */
export type VisibleRows = (metadata: EntityMetadata) => readonly Condition[];

/** The conditions of a list for a client. */
export interface VisibleConditions {
  /** Those that the client has chosen. */
  readonly filters: readonly Condition[];
  /** Those for what the client sees, whatever the filters. */
  readonly scope: readonly Condition[];
}

/** A list that a handler returns: which objects, in which order. `VisibleListing` is what a client sees of it. */
export class Listing {
  constructor(
    readonly repository: Repository<ObjectLiteral>,
    readonly query: Readonly<
      Pick<
        ListQueryDto,
        'fields' | 'include' | 'limit' | 'offset' | 'after' | 'sort' | 'updatedSince'
      >
    >,
    /** Conditions of the handler, combined with AND. */
    readonly filters: readonly Condition[],
  ) {}

  /** The resource whose version changes with the list. */
  get resource(): string {
    return nameOf(this.repository.metadata);
  }

  /** What a client sees of it. */
  visible(rows: VisibleRows): VisibleConditions {
    return { filters: withVisible(this.filters, rows), scope: rows(this.repository.metadata) };
  }
}

/** The third argument of `listOf`. It is optional if every filter names a column. */
type ConditionArguments<Entity, Query extends ListQueryDto> = [
  RequiredFilter<Entity, Query>,
] extends [never]
  ? [conditions?: Conditions<Entity, Query>]
  : [conditions: Conditions<Entity, Query>];

/**
 * Describes the list of an entity's objects that match the filters of a query.
 *
 * @param conditions required for each filter that does not name a column of its own type
 * @throws WrongEntityError for a query class of another entity
 */
export function listOf<Entity extends ObjectLiteral, Query extends ListQueryDto>(
  repository: Repository<Entity>,
  query: Query,
  ...[conditions = {} as Conditions<Entity, Query>]: ConditionArguments<Entity, Query>
): Listing {
  const { metadata } = repository;
  requireEntity(query, metadata.target);
  return new Listing(repository, query, conditionsOf(metadata, query, conditions));
}

/** One object that a handler returns. Nothing has been read yet. */
export class ObjectLookup {
  constructor(
    readonly repository: Repository<ObjectLiteral>,
    readonly identifier: string,
    readonly query: Readonly<Pick<ObjectQueryDto, 'fields' | 'include'>>,
  ) {}
}

/**
 * Describes the object of an entity with an identifier. The response is `-31` if it does not exist.
 *
 * @throws WrongEntityError for a query class of another entity
 */
export function objectOf<Entity extends ObjectLiteral>(
  repository: Repository<Entity>,
  identifier: string,
  query: ObjectQueryDto,
): ObjectLookup {
  requireEntity(query, repository.metadata.target);
  return new ObjectLookup(repository, identifier, query);
}
