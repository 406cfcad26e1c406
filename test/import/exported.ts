import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { DataSource, EntityMetadata } from 'typeorm';
import { exportRows } from '#server/import/export-rows.js';
import type { FileFormat } from '#server/import/file-rows.js';

/** What `catalogue export` writes for a resource. */
export async function exported(
  dataSource: DataSource,
  metadata: EntityMetadata,
  format: FileFormat,
): Promise<string> {
  const output = new PassThrough();
  const written = text(output);
  const runner = dataSource.createQueryRunner();
  try {
    await exportRows(runner, metadata, format, output);
  } finally {
    output.end();
    await runner.release();
  }
  return written;
}
