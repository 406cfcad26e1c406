import type { DataSource } from 'typeorm';

/** Creates the schema. Before it was marked, versions changed it under one name. */
const BASELINE = 'Baseline1764676800000';

/** Marks a database whose baseline this version knows. */
const MARK = 'KnownBaseline1764676800001';

/** The digest of the columns by which an unmarked baseline differs from those of former versions. */
const COLUMNS = '6acce26d42c7c6248d335c8347e892a4';

/**
 * Whether this version knows the baseline of a database. The migrations of later versions do not matter: an instance
 * of this version may start on their schema.
 *
 * @param applied the names of its migrations
 */
export async function hasKnownBaseline(
  dataSource: DataSource,
  applied: readonly string[],
): Promise<boolean> {
  if (applied.includes(MARK)) return true;
  if (!applied.includes(BASELINE)) return false;
  const [{ columns }] = await dataSource.query<[{ columns: string | null }]>(
    `SELECT md5(string_agg(
       concat_ws(' ', relname, attname, typname), ',' ORDER BY relname::text COLLATE "C", attname::text COLLATE "C"
     )) AS columns
     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid JOIN pg_type ON pg_type.oid = atttypid
     WHERE relnamespace = current_schema()::regnamespace AND attnum > 0 AND NOT attisdropped
     AND relname IN ('clients', 'access_tokens', 'searches', 'tallies', 'resource_versions', 'watermark')`,
  );
  return columns === COLUMNS;
}
