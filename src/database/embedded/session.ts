import { Client } from 'pg';
import { CATALOGUE, passwordOf } from './cluster.js';

/**
 * The advisory locks by which the processes that use a server know of each other. They are taken
 * in the database `postgres`, where no lock of the catalogue's own can meet them.
 */
const LOCKS = {
  /** Shared: this process uses the server. Exclusive: nobody does, and its holder stops it. */
  lease: [0x63617461, 1],
  /** Exclusive: this process is the one service. */
  service: [0x63617461, 2],
} as const;

/** A connection, with two methods that its published types leave out: whether it keeps us alive. */
export type Session = Client & { ref(): void; unref(): void };

/** A connection to the server's database `postgres`. It must be ended. */
export async function connect(directory: string, port: number): Promise<Session> {
  const client = new Client({
    host: '127.0.0.1',
    port,
    user: CATALOGUE,
    password: await passwordOf(directory),
    database: 'postgres',
    application_name: 'catalogue',
    ssl: false,
    connectionTimeoutMillis: 10_000,
  }) as Session;
  // Without a listener, a server that dies would take the process with it.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    void client.end().catch(() => undefined);
    throw error;
  }
  return client;
}

/** Tries to join the users of the server; false when it is being stopped. */
export async function takeLease(client: Session): Promise<boolean> {
  return isTrue(client, 'SELECT pg_try_advisory_lock_shared($1, $2)', LOCKS.lease);
}

/** Tries to take the right to stop the server; false while anybody uses it. */
export async function takeRightToStop(client: Session): Promise<boolean> {
  return isTrue(client, 'SELECT pg_try_advisory_lock($1, $2)', LOCKS.lease);
}

/** Whether the session with this backend still holds a lease. */
export async function hasLease(client: Session, backend: number): Promise<boolean> {
  const query = `SELECT EXISTS (${HOLDERS} AND l.pid = $3)`;
  return isTrue(client, query, [...LOCKS.lease, backend]);
}

/** Tries to become the one service on the server, which others are then told as `holder`. */
export async function takeService(client: Session, holder: string): Promise<boolean> {
  await client.query(`SELECT set_config('application_name', $1, false)`, [holder]);
  return isTrue(client, 'SELECT pg_try_advisory_lock($1, $2)', LOCKS.service);
}

/** What the one service said it was; undefined if there is none. */
export async function serviceHolder(client: Session): Promise<string | undefined> {
  const { rows } = await client.query<{ holder: string }>(HOLDERS, [...LOCKS.service]);
  return rows[0]?.holder;
}

const HOLDERS = `
  SELECT a.application_name AS holder
  FROM pg_locks l JOIN pg_stat_activity a USING (pid)
  WHERE l.locktype = 'advisory' AND l.granted AND l.classid = $1 AND l.objid = $2`;

async function isTrue(client: Session, query: string, values: readonly number[]): Promise<boolean> {
  const { rows } = await client.query<[boolean]>({
    text: query,
    values: [...values],
    rowMode: 'array',
  });
  return rows[0]?.[0] === true;
}
