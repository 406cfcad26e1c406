import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';
import type { LockContext } from './apply-migration.js';

/** Key of the advisory lock under which migrations run. Arbitrary; it must never change. */
const MIGRATION_LOCK = 7_264_001;
/** Milliseconds between two attempts to take the lock. */
const LOCK_POLL_INTERVAL = 250;
/** Milliseconds of waiting after which the holder of the lock is first reported. */
const REPORT_AFTER = 2000;
/** Milliseconds between two reports of the holder. */
const REPORT_INTERVAL = 10_000;

/**
 * Waits until no other process migrates, and takes the advisory lock. It polls, because a waiting
 * statement holds a snapshot, and `CREATE INDEX CONCURRENTLY` of the other process waits for that
 * snapshot: a deadlock. The end of the connection releases it.
 */
export async function takeMigrationLock({ runner, onWaiting, signal }: LockContext): Promise<void> {
  let reportAt = performance.now() + REPORT_AFTER;
  for (;;) {
    signal?.throwIfAborted();
    const [{ taken }] = (await runner.query('SELECT pg_try_advisory_lock($1) AS taken', [
      MIGRATION_LOCK,
    ])) as [{ taken: boolean }];
    if (taken) return;
    if (performance.now() > reportAt) {
      onWaiting(`Waiting for another process to migrate: ${await holder(runner)}`);
      reportAt += REPORT_INTERVAL;
    }
    await sleep(LOCK_POLL_INTERVAL, undefined, { signal });
  }
}

/** The session that holds the lock, as `pid 123`. */
async function holder(runner: QueryRunner): Promise<string> {
  // https://www.postgresql.org/docs/current/view-pg-locks.html: a bigint key is split in two halves
  const rows = (await runner.query(
    `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
     AND classid = 0 AND objid = $1
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [MIGRATION_LOCK],
  )) as { pid: number }[];
  return rows.map(({ pid }) => `pid ${pid}`).join();
}
