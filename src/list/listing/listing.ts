import type { ObjectLiteral, Repository } from 'typeorm';
import { errors } from '../../http/errors.js';
import { nameOf } from '../../resource/resource.js';
import type { Rights } from '../../resource/rights.js';
import type { ScopeClient } from '../../resource/scope.js';
import { selectedComputed, selectedRelated } from '../../resource/selection.js';
import {
  arePlain,
  type Condition,
  identifierQueriesIn,
  readColumns,
} from '../condition/condition.js';
import { type Conditions, conditionsOf, type RequiredFilter } from '../condition/filters.js';
import { type ListQueryDto, type ObjectQueryDto, RELEVANCE } from '../query/list-query.dto.js';
import { readsOf, requireEntity } from '../query/query-of.js';
import { withVisible, scopeConditions } from './scope.js';
import { relatedResources, shownFields } from './shown-fields.js';

/** A list that a handler returns: which objects, in which order. Nothing has been read yet. */
export class Listing {
  /** The conditions of its objects, combined with AND. */
  readonly conditions: readonly Condition[];
  /** The time since which a client asks for changes. */
  readonly since: Date | undefined;

  constructor(
    readonly repository: Repository<ObjectLiteral>,
    readonly query: Readonly<
      Pick<
        ListQueryDto,
        'fields' | 'include' | 'limit' | 'offset' | 'after' | 'sort' | 'updatedSince'
      >
    >,
    /** Conditions that the client has chosen. */
    readonly filters: readonly Condition[],
    /** The resources whose versions change when the list changes. */
    readonly resources: readonly string[],
    /** The conditions of what its client sees, whatever the filters. Empty before `seenBy`. */
    readonly scope: readonly Condition[] = [],
    /** Absent before `seenBy`. */
    readonly client?: ScopeClient,
  ) {
    this.since = query.updatedSince;
    this.conditions = scope.length > 0 ? [...scope, ...filters] : filters;
  }

  /**
   * The list as a client sees it. Whoever reads a list takes this one.
   *
   * @throws TypeError if there is no client, and the list is of a resource with a scope; ApiError `-15` if the handler
   * filters or sorts by what the client does not see
   */
  seenBy(client: ScopeClient | undefined): Listing {
    const { metadata } = this.repository;
    requireSeen(this, client?.rights);
    const filters = withVisible(this.filters, (other) => scopeConditions(other, client));
    return this.withConditions(filters, scopeConditions(metadata, client), client);
  }

  /** A copy of the list with other conditions. */
  withConditions(
    filters: readonly Condition[],
    scope: readonly Condition[],
    client = this.client,
  ): Listing {
    const { repository, query, resources, fields } = this;
    const scopes = selectedRelated(repository.metadata, fields).map(([{ metadata }]) =>
      scopeConditions(metadata, client),
    );
    const visible = identifierQueriesIn(filters).flatMap((each) => each.visible ?? []);
    const all = new Set([...resources, ...readIn([...scope, ...scopes.flat(), ...visible])]);
    return new Listing(repository, query, filters, [...all], scope, client);
  }

  /** The list with other fields, for whoever shows something else of its objects. */
  showing(fields: readonly string[]): Listing {
    const { repository, query, filters, resources } = this;
    const all = new Set([...resources, ...relatedResources(repository.metadata, fields)]);
    return new Listing(repository, { ...query, fields, include: undefined }, filters, [...all]);
  }

  /** The fields that each object shows; see `selection`. */
  get fields(): readonly string[] | undefined {
    return shownFields(this.repository.metadata, this.query, this.client?.rights);
  }
}

/**
 * Parameters that read what a client does not see are refused by name before. This is for the conditions and orders that
 * a handler adds, and for values of filters that the check at the start did not try.
 */
function requireSeen({ repository, filters, query }: Listing, rights: Rights | undefined): void {
  if (!rights?.isNarrowed) return;
  const { metadata } = repository;
  const sorted = (query.sort ?? []).filter(({ field }) => field !== RELEVANCE);
  const read = readColumns(metadata, filters);
  const isSeen =
    read?.every((column) => rights.sees(...column)) &&
    sorted.every(({ field }) => rights.sees(metadata.target as object, field));
  if (!isSeen) throw errors.forbidden('This list is not for this client');
}

/** The resources in which conditions look up identifiers. */
function readIn(conditions: readonly Condition[]): string[] {
  return identifierQueriesIn(conditions).map(({ metadata }) => nameOf(metadata));
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
  const all = conditionsOf(metadata, query, conditions);
  const fields = shownFields(metadata, query);
  const resources = new Set([
    nameOf(metadata),
    ...readIn(all),
    ...relatedResources(metadata, fields),
  ]);
  const reads = readsOf(query.constructor);
  // Only conditions in SQL and computed fields read what `@QueryOf` says that they read.
  if (
    reads.length > 0 &&
    !(arePlain(metadata, all) && selectedComputed(metadata, fields).length === 0)
  ) {
    for (const name of reads) resources.add(name);
  }
  return new Listing(repository, query, all, [...resources]);
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
