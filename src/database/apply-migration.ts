import { setTimeout as sleep } from 'node:timers/promises';
import type { Migration, MigrationExecutor, QueryRunner } from 'typeorm';
import { driverErrorOf } from './database-failure.js';
import { LockWatch } from './lock-watch.js';

/**
 * Milliseconds that a migration waits for each lock. Readers of the table queue behind it for that
 * long, as do readers of tables that it has locked before. It is short against the time that a
 * request may take, and long against the usual list, so that the lock is free once such lists end.
 */
const LOCK_TIMEOUT = 250;
/** Milliseconds until the next try, doubled after each one. */
const PAUSE = { first: 500, longest: 4000 };
/** Milliseconds past `deadlock_timeout`, in which a cancelled VACUUM ends. */
const VACUUM_ENDS = 500;

export interface Applying {
  readonly executor: MigrationExecutor;
  /** The executor's connection. */
  readonly runner: QueryRunner;
  /** Told in a line what it waits for. */
  readonly onWaiting: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

/**
 * Applies a migration in a transaction of its own. If a lock is not free in time, the
 * transaction is rolled back, so that the requests behind it go on, and tried again after a pause,
 * until it succeeds. A migration with `transaction = false`, as for `CREATE INDEX CONCURRENTLY`, cannot be
 * taken back: it waits for its locks.
 *
 * @throws the reason of the signal when that is aborted
 */
export async function applyMigration(migration: Migration, applying: Applying): Promise<void> {
  const { executor, runner, signal } = applying;
  const [{ pid }] = (await runner.query('SELECT pg_backend_pid() AS pid')) as [{ pid: number }];
  const onWaiting = (line: string): void => {
    applying.onWaiting(`${migration.name} ${line}`);
  };
  const watch = new LockWatch(runner.dataSource, pid, onWaiting, signal);
  try {
    if (migration.instance?.transaction === false) await executor.executeMigration(migration);
    else await retry(() => transaction(migration, applying), runner, watch, signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    await watch.stop();
  }
}

async function retry(
  attempt: () => Promise<void>,
  runner: QueryRunner,
  watch: LockWatch,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let pause = PAUSE.first; ; pause = Math.min(2 * pause, PAUSE.longest)) {
    signal?.throwIfAborted();
    try {
      await attempt();
      return;
    } catch (error) {
      if (!isLockFailure(error)) throw error;
    }
    const vacuumed = watch.takeVacuumed();
    if (vacuumed === null) await sleep(pause, undefined, { signal });
    else await outlastVacuum(runner, vacuumed);
  }
}

async function transaction(migration: Migration, { executor, runner }: Applying): Promise<void> {
  await inTransaction(runner, LOCK_TIMEOUT, async () => {
    await executor.executeMigration(migration);
  });
}

/**
 * PostgreSQL cancels an autovacuum for someone who has waited `deadlock_timeout` for its table, which
 * is longer than a migration waits. This waits that long in a mode that keeps nobody from reading or
 * writing.
 */
async function outlastVacuum(runner: QueryRunner, table: string): Promise<void> {
  const [{ timeout }] = (await runner.query(
    `SELECT extract(epoch FROM current_setting('deadlock_timeout')::interval) * 1000 AS timeout`,
  )) as [{ timeout: string }];
  try {
    await inTransaction(runner, Number(timeout) + VACUUM_ENDS, () =>
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

/** https://www.postgresql.org/docs/current/errcodes-appendix.html: lock_not_available, deadlock_detected */
function isLockFailure(error: unknown): boolean {
  return ['55P03', '40P01'].includes(driverErrorOf(error).code ?? '');
}
