import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { nameOf, resourcesOf } from '../resource/resource.js';
import { lineOf } from '../schema/difference.js';
import { differences } from '../schema/differences.js';
import { searchLanguageDifference } from '../schema/search-language.js';
import { Settings } from '../settings/settings.js';
import { authorReads } from './author-reads.js';
import { callLists } from './called-lists.js';
import { missingIndexes, uncarriedFilters } from './missing-indexes.js';
import { OBJECT_CHECKS } from './object-checks.js';

/** Seconds by which the times of changes may be ahead of the clock without a report. */
const MAX_CLOCK_LAG = 60;

/** Checks of the lists of an application. Their statements name columns that a database may lack. */
const LIST_CHECKS = [authorReads, missingIndexes, uncarriedFilters];

/** The violations in a database, as lines: of its schema, and of the constraints on its data. */
export async function findViolations(application: INestApplicationContext): Promise<string[]> {
  const dataSource = application.get(DataSource);
  const found = await differences(dataSource);
  const violations = [
    ...found.map(lineOf),
    ...(await invalidIndexes(dataSource)),
    ...(await clockViolations(dataSource)),
    ...(await searchLanguageViolations(application)),
  ];
  const unreadable = new Set(
    found.flatMap(({ resource, affectsColumns }) => (affectsColumns ? [resource] : [])),
  );
  if (unreadable.size === 0) {
    const called = await callLists(application);
    violations.push(...called.problems);
    for (const check of LIST_CHECKS) violations.push(...(await check(called, application)));
  }
  for (const metadata of resourcesOf(dataSource).values()) {
    if (unreadable.has(nameOf(metadata))) continue;
    for (const check of OBJECT_CHECKS) violations.push(...(await check(dataSource, metadata)));
  }
  return violations;
}

/** Indexes that PostgreSQL does not use, such as after an aborted `CREATE INDEX CONCURRENTLY`. */
async function invalidIndexes(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.query<{ index: string; table: string }[]>(
    `SELECT indexrelid::regclass::text AS index, indrelid::regclass::text AS table
     FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
     WHERE relnamespace = quote_ident(current_schema())::regnamespace AND NOT (indisvalid AND indisready)`,
  );
  return rows.map(({ index, table }) => `the index ${index} on ${table} is not valid`);
}

/** Whether times of further changes would be behind the watermark, or far ahead of the clock. */
async function clockViolations(dataSource: DataSource): Promise<string[]> {
  const [watermark] = await dataSource.query<{ behind: boolean; ahead: number }[]>(
    `SELECT coalesce(greatest(until, next_until) > coalesce(bound, '-infinity'), false) AS behind,
       coalesce(extract(epoch FROM bound - clock_timestamp()), 0)::integer AS ahead
     FROM watermark, to_timestamp(pg_sequence_last_value('watermark_floor') / 1000::float8) bound`,
  );
  const found: string[] = [];
  if (watermark?.behind) {
    found.push('the sequence watermark_floor is behind the watermark: SELECT advance_watermark()');
  }
  if (watermark && watermark.ahead > MAX_CLOCK_LAG) {
    found.push(
      `the clock of the database is ${watermark.ahead} s behind the last changes: it was set back`,
    );
  }
  return found;
}

async function searchLanguageViolations(application: INestApplicationContext): Promise<string[]> {
  const { searchLanguage } = application.get(Settings);
  const dataSource = application.get(DataSource);
  const difference = await searchLanguageDifference(dataSource, searchLanguage);
  return difference === undefined ? [] : [difference];
}
