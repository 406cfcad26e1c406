import { Readable } from 'node:stream';
import type { DataSource, EntityMetadata } from 'typeorm';
import { type ImportFormat, rowsOf } from '../import/file-rows.js';
import { importRows, type ImportResult } from '../import/import-rows.js';
import { textOf } from '../import/source.js';

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
