import type { DataSource } from 'typeorm';

/**
 * A table is analysed when more rows than this number and this fraction of its rows were written since the last time, and for
 * the first time when any row was.
 */
const ANALYSED_FROM = { rows: 500, fraction: 0.1 };

/** Makes `analyseWritten` see what a transaction has written as soon as it commits. To be run in that transaction. */
export const REPORT_WRITES = 'SELECT pg_stat_force_next_flush()';

/**
 * Analyses those of some tables in which much was written. The planner misjudges them, and autovacuum may come minutes later.
 *
 * @param tables quoted
 * @param command waits for no lock
 */
export async function analyseWritten(
  dataSource: DataSource,
  tables: readonly string[],
  command = 'ANALYZE (SKIP_LOCKED)',
): Promise<void> {
  const written = await dataSource.query<{ name: string }[]>(
    `SELECT name FROM unnest($1::text[]) name JOIN pg_class ON oid = name::regclass
     WHERE pg_stat_get_mod_since_analyze(oid) > CASE
       WHEN reltuples < 0 OR pg_stat_get_analyze_count(oid) + pg_stat_get_autoanalyze_count(oid) = 0 THEN 0
       ELSE ${ANALYSED_FROM.rows} + ${ANALYSED_FROM.fraction} * reltuples END`,
    [tables],
  );
  const names = written.map(({ name }) => name).join(', ');
  if (names) await dataSource.query(`${command} ${names}`);
}
