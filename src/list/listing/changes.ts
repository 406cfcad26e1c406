import type { EntityMetadata, FindOperator, ObjectLiteral, ObjectType } from 'typeorm';
import { changesTable, hasChangesTable } from '../../resource/changes-table.js';
import { identifierOf, nameOf } from '../../resource/resource.js';
import { isOneOf } from './identifier-queries.js';

/** How the filters by the time of the last change compare it. */
const COMPARISONS: Readonly<Record<string, string>> = { updatedSince: '>=', updatedUntil: '<' };

/** The condition of a filter by the time in `changesTable`; `undefined` for any other filter. */
export function changeCondition(
  metadata: EntityMetadata,
  filter: string,
  time: unknown,
): ObjectLiteral | undefined {
  const comparison = hasChangesTable(metadata) ? COMPARISONS[filter] : undefined;
  if (comparison === undefined) return undefined;
  return { [identifierOf(metadata).propertyName]: changed(metadata, comparison, time) };
}

function changed(metadata: EntityMetadata, comparison: string, time: unknown): FindOperator<never> {
  const resource = nameOf(metadata);
  const { databaseName: identifier } = identifierOf(metadata);
  return isOneOf({
    resource,
    entity: metadata.target as ObjectType<unknown>,
    columns: [identifier],
    // Whatever the client sees: the list that it restricts has the scope itself.
    text: ([value = '']) =>
      `SELECT changed."${identifier}" FROM ${changesTable(resource)} changed
       WHERE changed."changedAt" ${comparison} CAST(${value} AS timestamptz)`,
    values: [time],
  });
}
