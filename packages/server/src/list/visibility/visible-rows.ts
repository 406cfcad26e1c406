import type { EntityMetadata } from 'typeorm';
import type { ParameterValues } from '../../database/statement.js';
import type { VisibleRelated } from '../../resource/selection.js';
import { nameOf } from '../../resource/resource.js';
import { type ScopeClient, scopeOf, UnknownClientError } from '../../resource/visibility.js';
import {
  columnConditions,
  comparedValues,
  type Condition,
  withVisible,
} from '../condition/condition.js';
import { conditionsFrom } from '../condition/from-typeorm.js';
import { sqlEach } from '../condition/print.js';

/**
 * The conditions for the objects of an entity that a client sees, combined with AND. Empty: it sees all of
 * them.
 *
 * @param client absent: the entity must have no scope
 * @throws TypeError if there is no client, or if the condition is not one that its scope may be
 */
export function visibleRows(
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
