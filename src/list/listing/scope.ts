import type { DataSource, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ParameterSink, ParameterValues } from '../../database/statement.js';
import type { VisibleRelated } from '../../resource/selection.js';
import { nameOf } from '../../resource/resource.js';
import { type ScopeClient, scopeOf } from '../../resource/scope.js';
import { alternativesOf } from './alternatives.js';
import { operandsOf } from './comparisons.js';
import { placed, whereOf } from './where.js';
import { identifierQueriesIn, isOneOf, replaceIdentifierQueries } from './identifier-queries.js';

/**
 * The conditions for the objects of an entity that a client sees, combined with AND. Empty: it sees all of
 * them.
 *
 * @param client absent: the entity must have no scope
 * @throws TypeError if there is no client, or if the condition is not one that its scope may be
 */
export function scopeConditions(
  metadata: EntityMetadata,
  client: ScopeClient | undefined,
): readonly ObjectLiteral[] {
  const scope = scopeOf(metadata);
  if (!scope) return [];
  const name = nameOf(metadata);
  if (!client) throw new TypeError(`What is seen of ${name} depends on the client`);
  const where = scope.where(client);
  const alternatives = alternativesOf(where);
  // A promise has no columns, and would restrict nothing.
  if (!alternatives.every(isPlainObject)) {
    throw new TypeError(
      `The scope of ${name} is neither an object of conditions nor a list of them`,
    );
  }
  // TypeORM takes these for no condition at all, or for one that nothing meets.
  if (alternatives.length === 0) throw new TypeError(`The scope of ${name} is empty`);
  for (const alternative of alternatives) {
    for (const column of Reflect.ownKeys(alternative)) {
      if (typeof column !== 'string' || !scope.columns.includes(column)) {
        throw new TypeError(
          `The scope of ${name} does not name ${String(column)} among its columns`,
        );
      }
      const missing = operandsOf(alternative[column]).find(
        ({ value }) => value === undefined || value === null,
      );
      if (missing) {
        throw new TypeError(
          `The scope of ${name} compares ${column} with ${String(missing.value)}`,
        );
      }
    }
  }
  if (alternatives.some((each) => Object.keys(each).length === 0)) return [];
  const conditions = alternatives.length === 1 ? alternatives : [alternatives];
  // What a scope looks up is what the client sees, whatever it sees of the other resource.
  const everything = { metadata, conditions: [], in: () => [] };
  return replaceIdentifierQueries(
    conditions,
    identifierQueriesIn(conditions).map((each) => isOneOf({ ...each, visible: everything })),
  );
}

function isPlainObject(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

/** The conditions for what a client sees of an entity, as SQL on a table. */
export function visibleIn(
  metadata: EntityMetadata,
  conditions: readonly ObjectLiteral[],
  table: string,
  parameters: ParameterSink,
): readonly string[] {
  if (conditions.length === 0) return [];
  const repository = metadata.dataSource.getRepository<ObjectLiteral>(metadata.target);
  const condition = placed(whereOf(repository, conditions, table), parameters);
  return condition === undefined ? [] : [condition];
}

/** The same on the table `object`. */
export function visibleObjects(
  metadata: EntityMetadata,
  conditions: readonly ObjectLiteral[],
  values: ParameterValues,
): readonly string[] {
  return visibleIn(metadata, conditions, 'object', values);
}

/** Which related objects a client sees. */
export function visibleRelated(
  client: ScopeClient | undefined,
  values: ParameterValues,
): VisibleRelated {
  return (metadata) => visibleIn(metadata, scopeConditions(metadata, client), 'related', values);
}

/** Conditions of filters in which a client looks up nothing of the objects that it may not see. */
export function withVisibleIdentifiers(
  dataSource: DataSource,
  filters: readonly ObjectLiteral[],
  client: ScopeClient | undefined,
): readonly ObjectLiteral[] {
  const queries = identifierQueriesIn(filters);
  if (!queries.some(({ entity }) => scopeOf({ target: entity }))) return filters;
  const visible = queries.map((each) => {
    const metadata = dataSource.getMetadata(each.entity);
    const conditions = scopeConditions(metadata, client);
    return isOneOf({
      ...each,
      visible: {
        conditions,
        metadata,
        in: (table, parameters) => visibleIn(metadata, conditions, table, parameters),
      },
    });
  });
  return replaceIdentifierQueries(filters, visible);
}
