import type { INestApplicationContext } from '@nestjs/common';
import { DataSource, type EntityMetadata } from 'typeorm';
import { resourcesOf } from '../resource/resource.js';
import { miscounts } from './miscounts.js';
import { missingIndexes } from './missing-indexes.js';
import { differences, lineOf } from '../schema/differences.js';
import { findCycle, parentColumnOf } from '../resource/tree.js';

/** Seconds by which the times of changes may be ahead of the clock before it is reported. */
const SET_BACK = 60;

/** What is off in a database, a line each: in its schema, and in the data that the schema rules. */
export async function findings(application: INestApplicationContext): Promise<string[]> {
  const dataSource = application.get(DataSource);
  const differing = await differences(dataSource);
  const found = [
    ...differing.map(lineOf),
    ...(await invalidIndexes(dataSource)),
    ...(await clockFindings(dataSource)),
  ];
  const unread = new Set(
    differing.flatMap(({ resource, isOfColumns }) => (isOfColumns ? [resource] : [])),
  );
  // The statements of lists and comparisons name columns that are not there.
  if (unread.size === 0) found.push(...(await missingIndexes(application)));
  for (const metadata of resourcesOf(dataSource).values()) {
    if (unread.has(metadata.tableName)) continue;
    found.push(...(await brokenReferences(dataSource, metadata)));
    found.push(...(await brokenRules(dataSource, metadata)));
    found.push(...(await circle(dataSource, metadata)));
    found.push(...(await miscounts(dataSource, metadata)));
  }
  return found;
}

/** Indexes that PostgreSQL does not use, such as one whose concurrent creation was broken off. */
async function invalidIndexes(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.query<{ index: string; table: string }[]>(
    `SELECT indexrelid::regclass::text AS index, indrelid::regclass::text AS table
     FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
     WHERE relnamespace = current_schema()::regnamespace AND NOT (indisvalid AND indisready)`,
  );
  return rows.map(({ index, table }) => `the index ${index} on ${table} is not valid`);
}

/** Times of the changes to come that would be behind the watermark, or far ahead of the clock. */
async function clockFindings(dataSource: DataSource): Promise<string[]> {
  const [watermark] = await dataSource.query<{ behind: boolean; ahead: number }[]>(
    `SELECT coalesce(greatest(until, next_until) > coalesce(bound, '-infinity'), false) AS behind,
       coalesce(extract(epoch FROM bound - clock_timestamp()), 0)::integer AS ahead
     FROM watermark, to_timestamp(pg_sequence_last_value('watermark_floor') / 1000::float8) bound`,
  );
  const found: string[] = [];
  if (watermark?.behind) {
    found.push('the sequence watermark_floor is behind the watermark: SELECT advance_watermark()');
  }
  if (watermark && watermark.ahead > SET_BACK) {
    found.push(
      `the clock of the database is ${watermark.ahead} s behind the last changes: it was set back`,
    );
  }
  return found;
}

/** References to nothing, which a disabled trigger or a damaged index lets in. */
async function brokenReferences(
  dataSource: DataSource,
  metadata: EntityMetadata,
): Promise<string[]> {
  const found: string[] = [];
  for (const { columns, referencedColumns, referencedEntityMetadata } of metadata.foreignKeys) {
    const [column, key] = [columns[0]?.databaseName, referencedColumns[0]?.databaseName];
    const target = referencedEntityMetadata.tableName;
    const count = await counted(
      dataSource,
      `SELECT count(*) FROM "${metadata.tableName}" object WHERE "${column}" IS NOT NULL
       AND NOT EXISTS (SELECT FROM "${target}" target WHERE target."${key}" = object."${column}")`,
    );
    if (count > 0)
      found.push(`${count} ${metadata.tableName} name ${target} by ${column} that are not there`);
  }
  return found;
}

async function brokenRules(dataSource: DataSource, metadata: EntityMetadata): Promise<string[]> {
  const found: string[] = [];
  for (const { name, expression } of metadata.checks) {
    const count = await counted(
      dataSource,
      `SELECT count(*) FROM "${metadata.tableName}" WHERE NOT (${expression})`,
    );
    if (count > 0)
      found.push(`${count} ${metadata.tableName} break the rule ${name}: ${expression}`);
  }
  return found;
}

/** Objects of a tree that stand below themselves. */
async function circle(dataSource: DataSource, metadata: EntityMetadata): Promise<string[]> {
  const found = await findCycle(dataSource.manager, metadata);
  return found.map(
    (object) => `${metadata.tableName} ${object} is below itself by ${parentColumnOf(metadata)}`,
  );
}

async function counted(dataSource: DataSource, statement: string): Promise<number> {
  const [{ count }] = await dataSource.query<[{ count: string }]>(statement);
  return Number(count);
}
