import { hostname, userInfo } from 'node:os';
import type { Command } from 'commander';
import { DatabaseClient } from '../database/database-client.js';

/** What looks like an access token, which may be there by mistake. */
const TOKEN = /^[\w-]{43}$/;

/**
 * Runs the work of a command that changes something, or reads everything. Writes a line into the log of PostgreSQL
 * before and after it: who runs which command, and how it ended. The log of the command itself may be gone with its
 * container.
 */
export async function audited<T>(
  url: string,
  command: Command,
  work: () => Promise<T>,
): Promise<T> {
  const entry = {
    by: `${userName()}@${hostname()}`,
    pid: process.pid,
    command: nameOf(command),
    arguments: command.args,
    options: command.opts<Record<string, unknown>>(),
  };
  await writeToLog(url, { ...entry, state: 'started' });
  // The work has ended as it has, even if the database is gone since.
  const ended = (end: object): Promise<void> =>
    writeToLog(url, { ...entry, ...end }).catch((error: unknown) => {
      console.error(`The log of PostgreSQL does not say how it ended: ${(error as Error).message}`);
    });
  try {
    const result = await work();
    await ended({ state: 'done' });
    return result;
  } catch (error) {
    await ended({ state: 'failed' });
    throw error;
  }
}

async function writeToLog(url: string, entry: object): Promise<void> {
  const text = JSON.stringify(entry, (_key, value: unknown) => {
    if (value instanceof Map) return Object.fromEntries(value as Map<string, unknown>);
    if (typeof value === 'string' && TOKEN.test(value)) return '…';
    return value === Infinity ? 'never' : value;
  });
  const client = new DatabaseClient({ connectionString: url });
  await client.connect();
  try {
    // In one transaction: a pooler may give each its own connection. DO has no parameters.
    await client.query('BEGIN');
    await client.query(`SELECT set_config('catalogue.audit', $1, true)`, [text]);
    await client.query(
      `DO $$ BEGIN RAISE LOG 'catalogue audit: role %, %', session_user, current_setting('catalogue.audit'); END $$`,
    );
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}

/** Such as `client create`. */
function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}

/** The number of a user without a name: a container may run as any. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}
