import { Client } from 'pg';
import { CATALOGUE, passwordOf } from './cluster.js';

/**
 * Advisory locks that coordinate the processes that use a server. They are taken in the database
 * `postgres`, where they cannot conflict with locks of the service.
 */
const LOCKS = {
  /** Shared: its holder uses the server. Exclusive: no process uses it, and its holder stops it. */
  lease: [0x63617461, 1],
  /** Exclusive: its holder is the only service. */
  service: [0x63617461, 2],
} as const;

/** A connection, with two methods that `@types/pg` lacks. See `ref` of Node's sockets. */
export type Session = Client & { ref(): void; unref(): void };

/** Opens a connection to the server's database `postgres`. Must be ended. */
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
  // Without a listener, a server that crashes would end this process.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    void client.end().catch(() => undefined);
    throw error;
  }
  return client;
}

/** Takes the shared lease lock; false if the server is being stopped. */
export async function acquireLease(client: Session): Promise<boolean> {
  return isTrue(client, 'SELECT pg_try_advisory_lock_shared($1, $2)', LOCKS.lease);
}

/** Takes the lease lock exclusively, in order to stop the server; false while a process uses it. */
export async function acquireStopLock(client: Session): Promise<boolean> {
  return isTrue(client, 'SELECT pg_try_advisory_lock($1, $2)', LOCKS.lease);
}

/** Whether the backend with this process id still holds a lease. */
export async function hasLease(client: Session, backend: number): Promise<boolean> {
  const query = `SELECT EXISTS (${HOLDERS} AND l.pid = $3)`;
  return isTrue(client, query, [...LOCKS.lease, backend]);
}

/** Takes the service lock; false if another service has it. Others can read `holder`. */
export async function acquireServiceLock(client: Session, holder: string): Promise<boolean> {
  await client.query(`SELECT set_config('application_name', $1, false)`, [holder]);
  return isTrue(client, 'SELECT pg_try_advisory_lock($1, $2)', LOCKS.service);
}

/** The `holder` of the service lock; undefined if no service has it. */
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
