import type { DataSource, EntityMetadata } from 'typeorm';
import { countedColumnsOf, identifierOf } from '../resource/resource.js';
import { tallyRows, tallyTables } from '../list/tally/tally.js';

/** Maximum number of reported ranges per resource. */
const MAX_REPORTED = 20;

/**
 * The ranges whose tally differs from the table, as lines. Empty if the resource has no tally of the
 * columns that its entity counts, which `differences` reports. If every range of every facet is
 * right, so are all counts and offsets.
 */
export async function miscounts(
  dataSource: DataSource,
  metadata: EntityMetadata,
): Promise<string[]> {
  const { tableName: resource } = metadata;
  const counted = countedColumnsOf(metadata)
    .filter(({ length }) => length === 1)
    .flat();
  const [installed] = await dataSource.query<{ counted: string[] }[]>(
    'SELECT counted FROM tallies WHERE resource = $1',
    [resource],
  );
  if (!installed || !sameNames(installed.counted, counted)) return [];
  const differences = await dataSource.query<Difference[]>(comparison(metadata, counted));
  return differences.map(
    ({ facet, lowest, tallied, there }) =>
      `the tally of ${resource} has ${tallied} for ${facet || 'all'} from ${lowest || 'the first'}, where there are ${there}`,
  );
}

interface Difference {
  readonly facet: string;
  readonly lowest: string;
  readonly tallied: string;
  /** The number of objects in the table. */
  readonly there: string;
}

/** Selects the ranges where tally and table differ. One statement, so that it sees one snapshot. */
function comparison(metadata: EntityMetadata, counted: readonly string[]): string {
  const { tally } = tallyTables(metadata);
  const facets = ["('')", ...counted.map((column) => `('${column}=' || object."${column}"::text)`)];
  return `WITH tallied AS (
      SELECT facet, lowest, sum(count) AS tallied FROM ${tallyRows(metadata)} GROUP BY facet, lowest
    ), there AS (
      SELECT facet, lowest, count(*) AS there FROM (
        SELECT of.facet, coalesce((
          SELECT tally.lowest FROM ${tally} tally
          WHERE tally.facet = of.facet
          AND tally.lowest <= object."${identifierOf(metadata).databaseName}"
          ORDER BY tally.facet DESC, tally.lowest DESC LIMIT 1
        ), '') AS lowest
        FROM "${metadata.tableName}" object CROSS JOIN LATERAL (VALUES ${facets.join(', ')}) of(facet)
        WHERE of.facet IS NOT NULL
      ) ranged GROUP BY facet, lowest
    )
    SELECT facet, lowest, coalesce(tallied, 0) AS tallied, coalesce(there, 0) AS there
    FROM tallied FULL JOIN there USING (facet, lowest)
    WHERE coalesce(tallied, 0) <> coalesce(there, 0)
    ORDER BY facet, lowest LIMIT ${MAX_REPORTED}`;
}

function sameNames(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name) => other.includes(name));
}
