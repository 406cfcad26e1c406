import type { DataSource } from 'typeorm';
import { TALLY_COLUMNS, type TallyColumns } from './install-statements.js';

/** What each tally of the database counts, by resource. */
export async function talliesOf(dataSource: DataSource): Promise<Map<string, TallyColumns>> {
  const rows = await dataSource.query<({ resource: string } & TallyColumns)[]>(
    `SELECT resource, ${TALLY_COLUMNS.join()} FROM tallies`,
  );
  return new Map(rows.map(({ resource, ...columns }) => [resource, columns]));
}
