import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { EntityMetadata, QueryRunner } from 'typeorm';
import { typeNameOf } from '../resource/column-values.js';
import { fieldsOf, identifierOf, tableOf } from '../resource/resource.js';
import { selection } from '../resource/selection.js';
import type { FileFormat } from './file-rows.js';

/** Streams all objects of a resource, by identifier and in one snapshot, as `importRows` reads them. */
export async function exportRows(
  runner: QueryRunner,
  metadata: EntityMetadata,
  format: FileFormat,
  output: Writable,
): Promise<void> {
  // In CSV, COPY writes a boolean as t or f.
  const cells = fieldsOf(metadata).map((column) => {
    const name = `"${column.propertyName}"`;
    return typeNameOf(column) === 'boolean' ? `${name}::text AS ${name}` : name;
  });
  const rows = `SELECT ${selection(metadata, undefined, () => [])} FROM ${tableOf(metadata)} object
    ORDER BY object."${identifierOf(metadata).databaseName}"`;
  // JSON has no control characters, so with these as quote and delimiter COPY does not change it.
  const statement =
    format === 'csv'
      ? `COPY (SELECT ${cells.join(', ')} FROM (${rows}) "#row") TO STDOUT WITH (FORMAT csv, HEADER)`
      : `COPY (SELECT row_to_json("#row")::text FROM (${rows}) "#row")
         TO STDOUT WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')`;
  const client = (await runner.connect()) as PoolClient;
  await pipeline(client.query(copyTo(statement)), output, { end: false });
}
