import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import type { Client } from 'pg';
import { connectedTo, createDatabase, type TestDatabase } from '#server/testing/database.js';
import { until } from '../until.js';
import { BARE_ENVIRONMENT, runNode } from './catalogue.js';

let database: TestDatabase;
let client: Client;

beforeAll(async () => {
  database = await createDatabase();
  client = await connectedTo(database.url);
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

/** Ends the session of a command when it runs a statement. Returns false while there is none. */
async function endSession(statement: string): Promise<boolean> {
  const { rows } = await client.query<{ ended: boolean }>(
    `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE $1`,
    [statement],
  );
  return rows.length > 0;
}

/** The end of a command whose session is ended while it runs a statement. */
async function ended(
  args: readonly string[],
  statement: string,
  input?: () => string,
): Promise<{ status: number | null; stderr: string }> {
  const child = spawn(process.execPath, ['dist/main.js', ...args], {
    env: { ...BARE_ENVIRONMENT, DATABASE_URL: database.url },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on('error', () => undefined);
  const feed = (): void => {
    while (input && child.stdin.writable && child.stdin.write(input()));
  };
  child.stdin.on('drain', feed);
  feed();
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  try {
    await until(() => endSession(statement), 120_000);
    return { status: await closed, stderr };
  } finally {
    child.kill('SIGKILL');
  }
}

let row = 0;
const brands = (): string =>
  Array.from({ length: 500 }, () => `${JSON.stringify({ brandID: `b-${row++}` })}\n`).join('');
const LOST = /^catalogue: (The connection to the database was lost|.*terminat).*\n$/;

it.each([
  [
    'an import that reads its file',
    ['import', 'brands', '-', '--format', 'ndjson'],
    'COPY %',
    brands,
  ],
  // It waits for an import of others.
  [
    'an import that waits',
    ['import', 'brands', 'demo/brands.csv'],
    '%pg_advisory_xact_lock%',
    undefined,
  ],
] as const)(
  '%s says in one line that its session was ended',
  async (_what, args, statement, input) => {
    await client.query(`SELECT pg_advisory_lock(hashtext('import brands'))`);
    if (input) await client.query('SELECT pg_advisory_unlock_all()');
    const { status, stderr } = await ended(args, statement, input);
    await client.query('SELECT pg_advisory_unlock_all()');
    expect(stderr).toMatch(LOST);
    expect(status).toBe(1);
  },
);

it.each([
  [
    'a broken connection',
    `Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write' })`,
    'The connection to the database was lost: write EPIPE',
  ],
  [
    'a promise that nobody keeps',
    undefined,
    'The command has stopped before its end, which is a fault of the program',
  ],
])('A command that ends by %s says so', async (_what, error, line) => {
  const script = `
    const { Command } = await import('commander');
    Command.prototype.parseAsync = () => ${error ? `Promise.reject(${error})` : 'new Promise(() => undefined)'};
    await import('./dist/main.js');`;
  const result = await runNode(['--input-type=module', '-e', script]);
  expect(result).toEqual({ status: 1, stdout: '', stderr: `catalogue: ${line}\n` });
});
