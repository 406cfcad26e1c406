import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { catalogue } from '../processes.js';
import type pg from 'pg';

const run = promisify(execFile);

/** What leads to a primary with the database `catalogue`, whose owner is `catalogue`. */
interface Restorable {
  url(role?: string, database?: string): string | Promise<string>;
  connect(role?: string, database?: string): Promise<pg.Client>;
}

/** Restores a backup of five seconds ago beside the database, and renames, as docs/operations.md tells an operator to. */
export async function restore(cluster: Restorable): Promise<void> {
  const file = join(tmpdir(), `catalogue-${process.pid}.dump`);
  await run('pg_dump', ['-Fc', '-f', file, await cluster.url('postgres')]);
  await sleep(5000);
  const postgres = await cluster.connect('postgres', 'postgres');
  try {
    await postgres.query('DROP DATABASE IF EXISTS catalogue_old');
    await postgres.query('CREATE DATABASE catalogue_new OWNER catalogue');
    const restored = await cluster.url('postgres', 'catalogue_new');
    await run('pg_restore', ['--exit-on-error', '-d', restored, file]);
    for (const command of ['migrate', 'verify']) {
      await catalogue([command], await cluster.url('catalogue', 'catalogue_new'));
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
