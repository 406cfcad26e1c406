import type { Client } from 'pg';

/** The condition of `pg_locks` for this database. Tables have the same `relation` in all databases of one template. */
export const IN_THIS_DATABASE =
  'database = (SELECT oid FROM pg_database WHERE datname = current_database())';

/** The number of sessions that wait for a lock of a table. */
export async function waitingFor(client: Client, table: string): Promise<number> {
  const { rows } = await client.query(
    `SELECT FROM pg_locks WHERE relation = $1::regclass AND NOT granted AND ${IN_THIS_DATABASE}`,
    [table],
  );
  return rows.length;
}
