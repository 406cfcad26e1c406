import type { Client } from 'pg';

/** The number of sessions that wait for a lock of a table. */
export async function waitingFor(client: Client, table: string): Promise<number> {
  const { rows } = await client.query(
    'SELECT FROM pg_locks WHERE relation = $1::regclass AND NOT granted',
    [table],
  );
  return rows.length;
}
