import { Readable } from 'node:stream';
import type { DataSource, EntityMetadata } from 'typeorm';
import { type ImportFormat, rowsOf } from '../import/file-rows.js';
import { type ImportResult, importRows } from '../import/import-rows.js';
import { textOf } from '../import/source.js';
import { resourcesOf, tableOf } from '../resource/resource.js';
import type { Service } from './service.js';

/** Imports a file as `catalogue import` does. */
export function imported(
  dataSource: DataSource,
  metadata: EntityMetadata,
  format: ImportFormat,
  chunks: Iterable<Buffer>,
  options: Partial<Parameters<typeof importRows>[3]> & { delimiter?: string } = {},
): Promise<ImportResult> {
  const text = textOf(Readable.from(chunks, { objectMode: false }));
  return dataSource.transaction(async ({ queryRunner }) => {
    if (!queryRunner) throw new Error('A transaction has a query runner');
    return importRows(queryRunner, metadata, rowsOf(format, text, options.delimiter), {
      map: new Map(),
      set: new Map(),
      replace: false,
      ...options,
    });
  });
}

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
