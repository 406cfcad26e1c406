import type { EntityMetadata, ObjectType } from 'typeorm';
import { changesTable, hasChangesTable } from '../../resource/changes-table.js';
import { identifierOf, nameOf } from '../../resource/resource.js';
import type { Condition } from './condition.js';

/** How the filters by the time of the last change compare it. */
const COMPARISONS: Readonly<Record<string, string>> = { updatedSince: '>=', updatedUntil: '<' };

/** The condition of a filter by the time in `changesTable`; `undefined` for any other filter. */
export function changeCondition(
  metadata: EntityMetadata,
  filter: string,
  time: unknown,
): Condition | undefined {
  const comparison = hasChangesTable(metadata) ? COMPARISONS[filter] : undefined;
  if (comparison === undefined) return undefined;
  const resource = nameOf(metadata);
  const { databaseName: identifier, propertyName: column } = identifierOf(metadata);
  const query = {
    resource,
    entity: metadata.target as ObjectType<unknown>,
    columns: [identifier],
    // Whatever the client sees: the list that it restricts has the scope itself.
    text: ([value = '']: readonly string[]) =>
      `SELECT changed."${identifier}" FROM ${changesTable(resource)} changed
       WHERE changed."changedAt" ${comparison} CAST(${value} AS timestamptz)`,
    values: [time],
  };
  return { kind: 'identifiers', column, query };
}
