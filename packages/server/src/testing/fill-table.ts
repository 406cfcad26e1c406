import { resourcesOf, tableOf } from '../resource/resource.js';
import type { Service } from './service.js';

/** Writes objects into the external table that a resource lists, as its owner does. */
export async function fillTable(
  { dataSource }: Service,
  resource: string,
  objects: readonly Record<string, unknown>[],
): Promise<void> {
  const metadata = resourcesOf(dataSource).get(resource);
  if (!metadata) throw new Error(`There is no resource ${resource}`);
  const table = tableOf(metadata);
  await dataSource.query(
    `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1)`,
    [JSON.stringify(objects)],
  );
}

/**
 * A statement that inserts those of some rows that are not there, and its parameter values.
 *
 * @param where a condition of the rows, in SQL
 */
export function insertion(
  table: string,
  rows: readonly object[],
  where = 'true',
): [sql: string, values: unknown[]] {
  const columns = Object.keys(rows[0] ?? {})
    .map((name) => `"${name}"`)
    .join(', ');
  return [
    `INSERT INTO ${table} (${columns})
     SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1) WHERE ${where} ON CONFLICT DO NOTHING`,
    [JSON.stringify(rows)],
  ];
}
