import type { Client } from 'pg';

/**
 * Names a session like a temporary database that it is about to create, which keeps that from being taken for abandoned
 * also between its sessions, and drops those of processes that were killed: no session is in them, or is called like them.
 *
 * @param prefix what the names of such databases begin with, before 12 hexadecimal digits
 */
export async function dropAbandoned(client: Client, prefix: string, name: string): Promise<void> {
  await client.query(`SET application_name = ${name}`);
  const { rows } = await client.query<{ datname: string }>(
    `SELECT datname FROM pg_database d
     WHERE datname ~ $1 AND pg_get_userbyid(datdba) = current_user AND NOT EXISTS
       (SELECT FROM pg_stat_activity a WHERE a.datid = d.oid OR a.application_name = d.datname)`,
    [`^${prefix}[0-9a-f]{12}$`],
  );
  // Another process may drop one at the same time.
  for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS ${datname}`);
}
