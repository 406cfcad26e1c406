import type { DataSource } from 'typeorm';
import { hasTable } from './installed-resource.js';

/** Created the schema. Before it was marked, versions changed it under one name. */
const BASELINE = 'Baseline1764676800000';

/** Marked a database whose baseline this version knows. */
const MARK = 'KnownBaseline1764676800001';

/** The columns of an unmarked baseline, by its tables. Those of former versions lack some. */
const COLUMNS = {
  clients: 'clientID name disabled rateLimit resources hidden isPublic createdAt',
  access_tokens: 'tokenID clientID hash expiresAt createdAt',
  searches: 'resource columns',
  tallies: 'resource identifier counted cuts sorted searched intervals',
  resource_versions: 'resource stamp writer folded_in',
  watermark: 'until next_until next_id history database timeline log_position former',
};

/**
 * Whether this version knows the baseline of a database. The migrations of later versions do not matter: an instance
 * of this version may start on their schema. Nor do further columns: the baseline applies the files of functions, which
 * may add some, before the database is marked.
 *
 * @param applied the names of its migrations
 */
export async function hasKnownBaseline(
  dataSource: DataSource,
  applied: readonly string[],
): Promise<boolean> {
  if (applied.includes(MARK) || (await hasTable(dataSource.manager, 'engine'))) return true;
  if (!applied.includes(BASELINE)) return false;
  const [{ known }] = await dataSource.query<[{ known: boolean }]>(
    `SELECT NOT EXISTS (
       SELECT FROM jsonb_each_text($1) AS tables(name, columns), unnest(string_to_array(columns, ' ')) AS needed(attname)
       WHERE NOT EXISTS (
         SELECT FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
         WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relname = name
         AND pg_attribute.attname = needed.attname AND NOT attisdropped
       )
     ) AS known`,
    [JSON.stringify(COLUMNS)],
  );
  return known;
}
