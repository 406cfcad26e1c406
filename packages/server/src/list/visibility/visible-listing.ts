import type { EntityMetadata, ObjectType } from 'typeorm';
import { errors } from '../../http/errors.js';
import { fieldsOf, hasOwnTable, isResource, isVersioned, nameOf } from '../../resource/resource.js';
import { fieldsOfRelated, selectedRelated, type VisibleRelated } from '../../resource/selection.js';
import {
  type Rights,
  rightsOf,
  type ScopeClient,
  scopeOf,
  UnknownClientError,
} from '../../resource/visibility.js';
import {
  arePlain,
  columnConditions,
  comparedValues,
  type Condition,
  identifierQueriesIn,
  misfitsIn,
  readColumns,
  withVisible,
} from '../condition/condition.js';
import type { Listing, ObjectLookup, VisibleConditions } from '../listing/listing.js';
import { ObjectQueryDto, RELEVANCE } from '../query/list-query.dto.js';
import { authorSql, resourcesRead } from './author-sql.js';
import { relatedOf } from '../../resource/relations.js';
import type { ParameterValues } from '../../database/statement.js';
import { conditionsFrom } from '../condition/from-typeorm.js';
import { sqlEach } from '../condition/print.js';

type Selection = Readonly<Pick<ObjectQueryDto, 'fields' | 'include'>>;

/** An entity, and the conditions for those of its objects that a client sees. */
type Scoped = readonly [metadata: EntityMetadata, scope: readonly Condition[]];

/**
 * A list as a client sees it: what readers take. Only `of` makes one, so that no list is read unchecked. What it does not
 * know of a list is not visible.
 */
export class VisibleListing {
  readonly repository: Listing['repository'];
  readonly query: Listing['query'];
  /** The time since which a client asks for changes. */
  readonly since: Date | undefined;
  /** The conditions of its objects, combined with AND. */
  readonly conditions: readonly Condition[];
  readonly filters: readonly Condition[];
  readonly scope: readonly Condition[];

  private constructor(
    private readonly described: Listing,
    { filters, scope }: VisibleConditions,
    /** Absent: none of its resources has a scope. */
    readonly client: ScopeClient | undefined,
    /** The fields that each object shows; see `selection`. */
    readonly fields: readonly string[] | undefined,
    /** The resources whose versions change when it changes. */
    readonly resources: readonly string[],
    /** Whether these versions tell of all its changes. Otherwise it is always read, and has no entity tag. */
    readonly isVersioned: boolean,
  ) {
    ({ repository: this.repository, query: this.query } = described);
    this.since = described.query.updatedSince;
    this.filters = filters;
    this.scope = scope;
    this.conditions = scope.length > 0 ? [...scope, ...filters] : filters;
  }

  /**
   * @param selection what each object shows, by default as its query says
   * @throws ApiError `-15` if the handler filters or sorts by what the client does not see; UnknownClientError without a
   * client, for a resource with a scope; UnscopedReadError for SQL of an author that may read one; TypeError for a filter
   * that compares a column with values of another type
   */
  static of(
    listing: Listing,
    client: ScopeClient | undefined,
    selection: Selection = listing.query,
  ): VisibleListing {
    const { repository, query } = listing;
    const { metadata } = repository;
    const rights = rightsOf(client);
    requireSeen(listing, rights);
    const [misfit] = misfitsIn(metadata, listing.filters);
    if (misfit !== undefined) throw new TypeError(`${query.constructor.name} ${misfit}`);
    const rows = (other: EntityMetadata): readonly Condition[] => visibleRows(other, client);
    const conditions = listing.visible(rows);
    const fields = shownFields(metadata, selection, rights);
    const related = relatedEntities(metadata, fields);
    const sql = authorSql(metadata, fields, listing.filters);
    const read = resourcesRead(query, sql, metadata.dataSource);
    const lookups = identifierQueriesIn(conditions.filters);
    const scopes = [
      ...[metadata, ...related].map((each): Scoped => [each, rows(each)]),
      ...lookups.map((each): Scoped => [each.metadata, each.visible ?? []]),
    ];
    const looked = [...lookups, ...identifierQueriesIn(scopes.flatMap(([, scope]) => scope))];
    const resources = new Set([
      listing.resource,
      ...[...looked.map((each) => each.metadata), ...related].map(nameOf),
      ...(read ?? []),
    ]);
    const isTold =
      read !== undefined &&
      isVersioned(metadata) &&
      [...resources].every(hasOwnTable) &&
      scopes.every((scope) => arePlain(...scope));
    return new VisibleListing(listing, conditions, client, fields, [...resources], isTold);
  }

  /** The list with other conditions for the same objects. */
  with(replaced: (conditions: readonly Condition[]) => Condition[]): VisibleListing {
    const { described, client, fields, resources, isVersioned } = this;
    const conditions = { filters: replaced(this.filters), scope: replaced(this.scope) };
    return new VisibleListing(described, conditions, client, fields, resources, isVersioned);
  }

  /** Whether what it reads has columns that its client does not see. A change of them changes its version as well. */
  get isPartial(): boolean {
    const rights = rightsOf(this.client);
    return !this.resources.every((name) => rights.seesAll(name));
  }
}

/** An object as a client sees it: what readers take. Only `of` makes one. */
export class VisibleObject {
  private constructor(
    readonly lookup: ObjectLookup,
    readonly client: ScopeClient | undefined,
    readonly fields: readonly string[] | undefined,
    /** The entities of what it shows. */
    readonly entities: readonly EntityMetadata[],
    /** The conditions for it to be visible. */
    readonly scope: readonly Condition[],
  ) {}

  /** @throws as `VisibleListing.of` */
  static of(lookup: ObjectLookup, client: ScopeClient | undefined): VisibleObject {
    const { repository, query } = lookup;
    const { metadata } = repository;
    const fields = shownFields(metadata, query, rightsOf(client));
    resourcesRead(query, authorSql(metadata, fields), metadata.dataSource);
    const entities = [metadata, ...relatedEntities(metadata, fields)];
    return new VisibleObject(lookup, client, fields, entities, visibleRows(metadata, client));
  }
}

/**
 * The entities whose objects are shown beside those of an entity.
 *
 * @throws TypeError for a table that is no resource: a change of it would not change the version of a page
 */
function relatedEntities(
  metadata: EntityMetadata,
  fields: readonly string[] | undefined,
): EntityMetadata[] {
  return selectedRelated(metadata, fields).map(([{ metadata: other }]) => {
    if (isResource(other)) return other;
    throw new TypeError(
      `${nameOf(metadata)} cannot include ${other.tableName}, which is not a @Resource`,
    );
  });
}

/**
 * Parameters that read what a client does not see are refused by name before. This is for the conditions and orders that
 * a handler adds, and for filters whose conditions read more than they say.
 */
function requireSeen({ repository, filters, query }: Listing, rights: Rights): void {
  if (!rights.isRestricted) return;
  const { metadata } = repository;
  const sorted = (query.sort ?? []).filter(({ field }) => field !== RELEVANCE);
  const read = readColumns(metadata, filters);
  const isSeen =
    read?.every((column) => rights.sees(...column)) &&
    sorted.every(({ field }) => rights.sees(metadata.target as object, field));
  if (!isSeen) throw errors.forbidden('This list is not for this client');
}

/**
 * The fields that each object of a list, or a single one, shows, by `fields` and `include`: those of a related object as
 * `brand.name`, which is what `selection` takes. `undefined` for all of its own.
 *
 * @param rights what the client sees of them
 */
function shownFields(
  metadata: EntityMetadata,
  { fields, include = [] }: Selection,
  rights: Rights,
): readonly string[] | undefined {
  const related = relatedOf(metadata).flatMap(({ name, column, metadata: other, children }) => {
    const named = fieldsOfRelated(name, fields ?? []);
    if (named.length === 0 && !include.includes(name)) return [];
    const by = children ?? column.propertyName;
    if (!rights.seesRelated(metadata.target as ObjectType<unknown>, by)) return [];
    const shown = named.length > 0 ? named : namesOf(other);
    return rights.seen(other.target, shown).map((field) => `${name}.${field}`);
  });
  if (related.length === 0 && !rights.isRestricted) return fields;
  const own = fields ? fields.filter((name) => !name.includes('.')) : namesOf(metadata);
  return [...rights.seen(metadata.target, own), ...related];
}

/**
 * The fields and related objects that `fields` and `include` name, in the order of the resource. `undefined` without
 * `fields`, and for a query class that does not extend `ObjectQueryDto`, whose `fields` may mean something else.
 */
export function namedFields(query: unknown): readonly string[] | undefined {
  if (!(query instanceof ObjectQueryDto)) return undefined;
  const { fields, include = [] } = query;
  return fields && [...fields, ...include];
}

/** The names of all fields of an entity. */
export function namesOf(metadata: EntityMetadata): string[] {
  return fieldsOf(metadata).map(({ propertyName }) => propertyName);
}

/**
 * The conditions for the objects of an entity that a client sees, combined with AND. Empty: it sees all of
 * them.
 *
 * @param client absent: the entity must have no scope
 * @throws TypeError if there is no client, or if the condition is not one that its scope may be
 */
function visibleRows(
  metadata: EntityMetadata,
  client: ScopeClient | undefined,
): readonly Condition[] {
  const scope = scopeOf(metadata);
  if (!scope) return [];
  const name = nameOf(metadata);
  if (!client) throw new UnknownClientError(name);
  const where = scope.where(client);
  const alternatives: readonly object[] = [where].flat();
  // A promise has no columns, and would restrict nothing.
  if (!alternatives.every(isPlainObject)) {
    throw new TypeError(
      `The scope of ${name} is neither an object of conditions nor a list of them`,
    );
  }
  if (alternatives.length === 0) throw new TypeError(`The scope of ${name} is empty`);
  const keys = alternatives.map((each) => Reflect.ownKeys(each));
  const unknown = keys.flat().find((key) => !scope.columns.some((column) => column === key));
  if (unknown !== undefined) {
    throw new TypeError(`The scope of ${name} does not name ${String(unknown)} among its columns`);
  }
  const conditions = conditionsFrom(metadata, where);
  for (const condition of columnConditions(conditions)) {
    for (const { value } of comparedValues(condition)) {
      if (value !== undefined && value !== null) continue;
      throw new TypeError(
        `The scope of ${name} compares ${condition.column} with ${String(value)}`,
      );
    }
  }
  if (keys.some(({ length }) => length === 0)) return [];
  // What a scope looks up is what the client sees, whatever it sees of the other resource.
  return withVisible(conditions, () => []);
}

function isPlainObject(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

/** Which related objects a client sees. */
export function visibleRelated(
  client: ScopeClient | undefined,
  values: ParameterValues,
): VisibleRelated {
  return (metadata) =>
    sqlEach(visibleRows(metadata, client), { metadata, values, table: 'related' });
}
