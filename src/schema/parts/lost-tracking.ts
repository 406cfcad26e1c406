import type { DataSource } from 'typeorm';

/** What has become of the triggers with which the rows of a table were counted, and of the columns that they read. */
export async function lostTracking(
  dataSource: DataSource,
  resource: string,
  table: string,
): Promise<string> {
  const lost = await dataSource.query<{ text: string }[]>(LOST, [resource, table]);
  if (lost.length > 0) return lost.map(({ text }) => text).join(', ');
  return `a trigger of ${resource} on ${table} was disabled for a while, or a partition attached or detached, so that its tally may be wrong`;
}

const LOST = `
  WITH wanted AS (
    SELECT relation::regclass::text AS relation, name, tgname, tgenabled
    FROM unnest('{tally,changes}'::text[]) kept CROSS JOIN tracking_triggers($2::text, kept)
    CROSS JOIN format('%s_%s_%s', $1::text, kept, operation) AS named(name)
    LEFT JOIN pg_trigger ON tgrelid = relation AND tgname = name
      AND tgfoid = to_regprocedure(format('%I.%I()', current_schema(), format('keep_%s_%s', $1::text, kept)))
  ), lost AS (
    SELECT 1 AS place, relation, 0 AS at, '' AS name,
      format('%s has no trigger %s', relation, string_agg(name, ', ' ORDER BY name)) AS text
    FROM wanted WHERE tgname IS NULL GROUP BY relation
    UNION ALL
    SELECT 1, relation, 1, name, format('the trigger %s on %s is disabled', name, relation)
    FROM wanted WHERE tgenabled NOT IN ('O', 'A')
    UNION ALL
    SELECT 2, '', at, key,
      format('the column %s of %s was dropped and added again, or has another type or collation', key, $2::text)
    FROM tallies CROSS JOIN jsonb_each(nullif(tracking -> 'columns', 'null')) WITH ORDINALITY each(key, value, at)
    WHERE resource = $1 AND value IS DISTINCT FROM tracking_of(resource) -> 'columns' -> key
    UNION ALL
    SELECT 3, '', 1, value, format('the value %s in %s was renamed to %s', value, $2::text, enumlabel)
    FROM tallies CROSS JOIN jsonb_each_text(nullif(tracking -> 'labels', 'null')) JOIN pg_enum ON pg_enum.oid = key::oid
    WHERE resource = $1 AND value <> enumlabel
  )
  SELECT text FROM lost ORDER BY place, relation, at, name`;
