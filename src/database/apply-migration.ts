import { setTimeout as sleep } from 'node:timers/promises';
import type { Migration, MigrationExecutor, QueryRunner } from 'typeorm';
import { driverErrorOf, isLockTimeout } from './database-failure.js';
import { LockMonitor, type Reporting } from './lock-monitor.js';
import { replaceMigration } from './replaced-migration.js';

/**
 * `lock_timeout` of a migration in milliseconds. While the migration waits, readers of the table
 * queue behind it, as do readers of the tables that it has locked already. The value is well below
 * the time limit of a request, and above the duration of a usual list, after which the lock is free.
 */
const LOCK_TIMEOUT = 250;
/** Milliseconds before the next attempt. Doubles after each attempt up to the maximum. */
const RETRY_DELAY = { initial: 500, maximum: 4000 };
/** Several polls fall within `LOCK_TIMEOUT`. */
const REPORTING: Reporting = { interval: 100, after: 0, again: 10_000 };
/** Milliseconds after `deadlock_timeout` that a cancelled autovacuum takes to end. */
const VACUUM_CANCEL_TIME = 500;

export interface LockContext {
  readonly runner: QueryRunner;
  /** Called with a line that says which lock is waited for. */
  readonly onWaiting: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

/** The runner is the executor's connection. */
export interface MigrationContext extends LockContext {
  readonly executor: MigrationExecutor;
}

/**
 * Applies a migration in its own transaction, as `withShortLocks` says. A migration with `transaction = false`,
 * such as one that runs `CREATE INDEX CONCURRENTLY`, cannot be rolled back and waits for its locks.
 *
 * @throws the reason of the signal if the signal is aborted
 */
export async function applyMigration(
  migration: Migration,
  context: MigrationContext,
): Promise<void> {
  const { executor, runner } = context;
  const apply = async (): Promise<void> => {
    if (await replaceMigration(migration, executor, runner)) return;
    await executor.executeMigration(migration);
  };
  await withShortLocks(migration.name, context, apply, migration.instance?.transaction !== false);
}

/**
 * Runs statements that lock tables, in a transaction. If a lock is not granted within `LOCK_TIMEOUT`, the
 * transaction is rolled back, which releases the requests queued behind it, and retried after a delay until it
 * succeeds.
 *
 * @param name what `onWaiting` says that waits
 * @param work may be repeated
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
  const monitor = await LockMonitor.start(runner, REPORTING, onWaiting, signal);
  try {
    if (isTransaction)
      await retry(() => inTransaction(runner, LOCK_TIMEOUT, work), runner, monitor, signal);
    else await work();
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    await monitor.stop();
  }
}

async function retry(
  attempt: () => Promise<void>,
  runner: QueryRunner,
  monitor: LockMonitor,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let delay = RETRY_DELAY.initial; ; delay = Math.min(2 * delay, RETRY_DELAY.maximum)) {
    signal?.throwIfAborted();
    try {
      await attempt();
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
 * Makes PostgreSQL cancel an autovacuum of a table. It does so for a session that has waited for the
 * table for `deadlock_timeout`, which is longer than `LOCK_TIMEOUT`. This function waits that long
 * in a lock mode that blocks neither reads nor writes.
 */
async function cancelAutovacuum(runner: QueryRunner, table: string): Promise<void> {
  const [{ timeout }] = (await runner.query(
    `SELECT extract(epoch FROM current_setting('deadlock_timeout')::interval) * 1000 AS timeout`,
  )) as [{ timeout: string }];
  try {
    await inTransaction(runner, Number(timeout) + VACUUM_CANCEL_TIME, () =>
      runner.query(`LOCK TABLE ${table} IN SHARE UPDATE EXCLUSIVE MODE`),
    );
  } catch (error) {
    if (!isLockFailure(error)) throw error;
  }
}

async function inTransaction(
  runner: QueryRunner,
  lockTimeout: number,
  work: () => Promise<unknown>,
): Promise<void> {
  await runner.startTransaction();
  try {
    await runner.query(`SET LOCAL lock_timeout = ${lockTimeout}`);
    await work();
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  }
}

function isLockFailure(error: unknown): boolean {
  // https://www.postgresql.org/docs/current/errcodes-appendix.html: deadlock_detected
  return isLockTimeout(error) || driverErrorOf(error).code === '40P01';
}
