import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Servers } from '../background.js';
import { catalogue } from '../processes.js';

const run = promisify(execFile);

/** Restores a backup of five seconds ago beside the database, and renames, as docs/operations.md tells an operator to. */
export async function restore(servers: Servers): Promise<void> {
  const file = join(tmpdir(), `catalogue-${process.pid}.dump`);
  await run('pg_dump', ['-Fc', '-f', file, await servers.url('postgres')]);
  await sleep(5000);
  const postgres = await servers.connect('postgres', 'postgres');
  try {
    await postgres.query('DROP DATABASE IF EXISTS catalogue_old');
    await postgres.query('CREATE DATABASE catalogue_new OWNER catalogue');
    const restored = await servers.url('postgres', 'catalogue_new');
    await run('pg_restore', ['--exit-on-error', '-d', restored, file]);
    for (const command of ['migrate', 'verify']) {
      await catalogue([command], await servers.url('catalogue', 'catalogue_new'));
    }
    await postgres.query('ALTER DATABASE catalogue ALLOW_CONNECTIONS false');
    await postgres.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'catalogue'",
    );
    await postgres.query('ALTER DATABASE catalogue RENAME TO catalogue_old');
    await postgres.query('ALTER DATABASE catalogue_new RENAME TO catalogue');
  } finally {
    await postgres.end();
    await rm(file, { force: true });
  }
}
