import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';
import { driverErrorOf, isLockTimeout } from './database-failure.js';
import { LockMonitor, type Reporting } from './lock-monitor.js';

/** Key of the advisory lock under which migrations run. Arbitrary; it must never change. */
const MIGRATION_LOCK = 7_264_001;
/** Milliseconds between two attempts to take the lock. */
const LOCK_POLL_PERIOD = 250;
/** Milliseconds of waiting after which the holder of the lock is first reported. */
const REPORT_AFTER = 2000;
/** Milliseconds between two reports of the holder. */
const REPORT_PERIOD = 10_000;

/**
 * `lock_timeout` in milliseconds. While a migration waits, readers of its tables queue behind it. Well below the time
 * limit of a request, and above the duration of a usual list, after which the lock is free.
 */
const LOCK_TIMEOUT = 250;
/** Milliseconds before the next attempt. Doubles after each attempt up to the maximum. */
const RETRY_DELAY = { initial: 500, maximum: 4000 };
/** Several polls fall within `LOCK_TIMEOUT`. */
const REPORTING: Reporting = { period: 100, after: 0, again: 10_000 };
/** Milliseconds after `deadlock_timeout` that a cancelled autovacuum takes to end. */
const VACUUM_CANCEL_TIME = 500;

export interface LockContext {
  readonly runner: QueryRunner;
  /** Called with a line that says which lock is waited for. */
  readonly onWaiting: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

/**
 * Waits until no other process migrates, and takes the advisory lock, which the end of the connection releases. It
 * polls: `CREATE INDEX CONCURRENTLY` of the other process would wait for the snapshot of a waiting statement.
 */
export async function takeMigrationLock({ runner, onWaiting, signal }: LockContext): Promise<void> {
  let reportAt = performance.now() + REPORT_AFTER;
  for (;;) {
    signal?.throwIfAborted();
    const [{ taken }] = await runner.manager.query<[{ taken: boolean }]>(
      'SELECT pg_try_advisory_lock($1) AS taken',
      [MIGRATION_LOCK],
    );
    if (taken) return;
    if (performance.now() > reportAt) {
      onWaiting(`Waiting for another process to migrate: ${await holder(runner)}`);
      reportAt += REPORT_PERIOD;
    }
    await sleep(LOCK_POLL_PERIOD, undefined, { signal });
  }
}

/** The session that holds the lock, as `pid 123`. */
async function holder(runner: QueryRunner): Promise<string> {
  // https://www.postgresql.org/docs/current/view-pg-locks.html: a bigint key is split in two halves
  const rows = await runner.manager.query<{ pid: number }[]>(
    `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
     AND classid = 0 AND objid = $1
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [MIGRATION_LOCK],
  );
  return rows.map(({ pid }) => `pid ${pid}`).join();
}

/**
 * Runs statements that lock tables, in a transaction. If a lock is not granted within `LOCK_TIMEOUT`, it is rolled
 * back, which lets the requests behind it go on, and `work` is repeated after a delay.
 *
 * @param name what `onWaiting` says that waits
 * @param isTransaction false: `work` runs once without a transaction, and waits for its locks
 * @throws the reason of the signal if the signal is aborted
 */
export async function withShortLocks(
  name: string,
  context: LockContext,
  work: () => Promise<void>,
  isTransaction = true,
): Promise<void> {
  const { runner, signal } = context;
  const onWaiting = (line: string): void => {
    context.onWaiting(`${name} ${line}`);
  };
  const run = (monitor: LockMonitor): Promise<void> =>
    isTransaction ? retry(work, runner, monitor, signal) : work();
  try {
    await LockMonitor.during(runner, REPORTING, onWaiting, run, signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

async function retry(
  work: () => Promise<void>,
  runner: QueryRunner,
  monitor: LockMonitor,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let delay = RETRY_DELAY.initial; ; delay = Math.min(2 * delay, RETRY_DELAY.maximum)) {
    signal?.throwIfAborted();
    try {
      await inTransaction(runner, LOCK_TIMEOUT, work);
      return;
    } catch (error) {
      if (!isLockFailure(error)) throw error;
    }
    const table = monitor.takeVacuumedTable();
    if (table === null) await sleep(delay, undefined, { signal });
    else await cancelAutovacuum(runner, table);
  }
}

/**
 * Makes PostgreSQL cancel an autovacuum, as it does for a session that has waited for the table for `deadlock_timeout`.
 * That is longer than `LOCK_TIMEOUT`: this waits in a lock mode that blocks neither reads nor writes.
 */
async function cancelAutovacuum(runner: QueryRunner, table: string): Promise<void> {
  const [{ timeout }] = await runner.manager.query<[{ timeout: string }]>(
    `SELECT extract(epoch FROM current_setting('deadlock_timeout')::interval) * 1000 AS timeout`,
  );
  try {
    await inTransaction(runner, Number(timeout) + VACUUM_CANCEL_TIME, () =>
      runner.query(`LOCK TABLE ${table} IN SHARE UPDATE EXCLUSIVE MODE`),
    );
  } catch (error) {
    if (!isLockFailure(error)) throw error;
  }
}

function inTransaction(
  runner: QueryRunner,
  lockTimeout: number,
  work: () => Promise<unknown>,
): Promise<void> {
  return runner.manager.transaction(async () => {
    await runner.query(`SET LOCAL lock_timeout = ${lockTimeout}`);
    await work();
  });
}

function isLockFailure(error: unknown): boolean {
  // https://www.postgresql.org/docs/current/errcodes-appendix.html: deadlock_detected
  return isLockTimeout(error) || driverErrorOf(error).code === '40P01';
}
