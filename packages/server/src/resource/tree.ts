import type { EntityManager, EntityMetadata } from 'typeorm';
import { identifierOf, tableOf } from './resource.js';

/** The column that refers to the parent in the same resource; `undefined` if there is none. */
export function parentColumnOf(metadata: EntityMetadata): string | undefined {
  const own = metadata.foreignKeys.find(
    ({ referencedEntityMetadata }) => referencedEntityMetadata === metadata,
  );
  return own?.columns[0]?.databaseName;
}

/** The identifiers of objects in or below a cycle, which no root reaches; at most 20. */
export async function findCycle(
  manager: EntityManager,
  metadata: EntityMetadata,
): Promise<string[]> {
  const parent = parentColumnOf(metadata);
  if (parent === undefined) return [];
  const table = tableOf(metadata);
  const identifier = `"${identifierOf(metadata).databaseName}"`;
  const rows = await manager.query<{ identifier: string }[]>(
    `WITH RECURSIVE reached AS (
       SELECT ${identifier} FROM ${table} WHERE "${parent}" IS NULL
       UNION ALL
       SELECT object.${identifier} FROM ${table} object
       JOIN reached ON object."${parent}" = reached.${identifier}
     )
     SELECT ${identifier} AS identifier FROM ${table}
     EXCEPT ALL SELECT ${identifier} FROM reached ORDER BY 1 LIMIT 20`,
  );
  return rows.map((row) => row.identifier);
}
