import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';

/** When waits are reported, in milliseconds. */
export interface Reporting {
  /** Between two polls. */
  readonly period: number;
  /** For which a session waits before it is reported. */
  readonly after: number;
  /** Minimum between two lines about the same holders. */
  readonly again: number;
}

/** Minimum milliseconds between any two lines. */
const REPORT_PERIOD = 1000;
/** Maximum number of holders that a line names. */
const MAX_HOLDERS = 3;
/** Maximum number of characters of a statement in a line. */
const MAX_STATEMENT_LENGTH = 100;

/** The lock that a session waits for, and one of the sessions that hold it. */
interface Wait {
  readonly lock: string;
  /** The table as an SQL identifier; null if the lock is not on a table. */
  readonly table: string | null;
  readonly statement: string;
  /** 0 for a prepared transaction. */
  readonly pid: number;
  /** The `application_name` of the holder, or its backend type. */
  readonly application: string | null;
  /** Null, as is `seconds`, if the role has no permission to see it. */
  readonly state: string | null;
  /** Age of the holder's transaction in seconds. */
  readonly seconds: number | null;
  /** Whether the holder has the lock mode of VACUUM on the table. */
  readonly vacuums: boolean;
}

/** Polls from a second connection which lock a session waits for, and reports its holders. */
export class LockMonitor {
  private vacuumedTable: string | null = null;
  private readonly done = new AbortController();
  private readonly running: Promise<void>;
  private readonly reported = { key: '', at: -Infinity };
  /** `performance.now()` value since which the session waits; absent while it does not. */
  private since: number | undefined;

  private constructor(
    private readonly dataSource: DataSource,
    private readonly pid: number,
    private readonly reporting: Reporting,
    private readonly onWaiting: (line: string) => void,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.running = this.run();
  }

  /**
   * Monitors a session during work.
   *
   * @param onWaiting called with a line when the holders change, and now and then
   * @param signal once aborted, the statements of the session are cancelled
   */
  static async during<T>(
    runner: QueryRunner,
    reporting: Reporting,
    onWaiting: (line: string) => void,
    work: (monitor: LockMonitor) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const [{ pid }] = await runner.manager.query<[{ pid: number }]>(
      'SELECT pg_backend_pid() AS pid',
    );
    const monitor = new LockMonitor(runner.dataSource, pid, reporting, onWaiting, signal);
    try {
      return await work(monitor);
    } finally {
      monitor.done.abort();
      await monitor.running;
    }
  }

  /** The table, in SQL, for which the session has waited because of a VACUUM since the last call; null for none. */
  takeVacuumedTable(): string | null {
    const table = this.vacuumedTable;
    this.vacuumedTable = null;
    return table;
  }

  private async run(): Promise<void> {
    while (!this.done.signal.aborted) {
      try {
        // Repeated at each poll: a cancellation between two statements has no effect.
        if (this.signal?.aborted)
          await this.dataSource.query('SELECT pg_cancel_backend($1)', [this.pid]);
        else this.report(await this.dataSource.query<Wait[]>(WAITS, [this.pid]));
      } catch {
        // The session itself reports a lost database.
      }
      await sleep(this.reporting.period, undefined, { signal: this.done.signal }).catch(
        () => undefined,
      );
    }
  }

  private report(waits: readonly Wait[]): void {
    const [wait] = waits;
    const now = performance.now();
    this.since = wait && (this.since ?? now);
    if (!wait || this.since === undefined) return;
    this.vacuumedTable = waits.some(({ vacuums }) => vacuums) ? wait.table : null;
    const key = [wait.lock, ...waits.map(({ pid }) => pid)].join();
    const { after, again } = this.reporting;
    const period = key === this.reported.key ? again : REPORT_PERIOD;
    if (now - this.since < after || now - this.reported.at < period) return;
    Object.assign(this.reported, { key, at: now });
    this.onWaiting(lineOf(wait, waits));
  }
}

function lineOf({ lock, statement }: Wait, waits: readonly Wait[]): string {
  const holders = waits.slice(0, MAX_HOLDERS).map(holderOf);
  if (waits.length > MAX_HOLDERS) holders.push(`${waits.length - MAX_HOLDERS} others`);
  const flat = statement.replace(/\s+/g, ' ').trim();
  const shortened =
    flat.length > MAX_STATEMENT_LENGTH ? `${flat.slice(0, MAX_STATEMENT_LENGTH)}…` : flat;
  return `waits for ${lock}, held by ${holders.join(' and ')}: ${shortened}`;
}

function holderOf({ pid, application, state, seconds }: Wait): string {
  if (pid === 0) return 'a prepared transaction';
  const facts = [application, state, seconds === null ? null : `in a transaction for ${seconds} s`];
  const visible = facts.filter((fact) => fact !== null);
  return visible.length > 0 ? `pid ${pid} (${visible.join(', ')})` : `pid ${pid}`;
}

/** https://www.postgresql.org/docs/current/view-pg-locks.html */
const WAITS = `
  SELECT DISTINCT
    CASE WHEN wait.relation IS NOT NULL THEN wait.mode || ' on ' || wait.relation::regclass
      WHEN wait.locktype IN ('virtualxid', 'transactionid') THEN 'the end of a transaction'
      WHEN wait.locktype = 'advisory' THEN 'an advisory lock'
      ELSE wait.mode || ' on ' || wait.locktype END AS lock,
    CASE WHEN class.relkind = 'r' THEN wait.relation::regclass::text END AS table,
    waiting.query AS statement, blocker.pid, holder.state,
    coalesce(nullif(holder.application_name, ''), holder.backend_type) AS application,
    extract(epoch FROM clock_timestamp() - holder.xact_start)::integer AS seconds,
    EXISTS (
      SELECT FROM pg_locks held WHERE held.pid = blocker.pid AND held.granted
      AND held.relation = wait.relation AND held.mode = 'ShareUpdateExclusiveLock'
    ) AS vacuums
  FROM pg_stat_activity waiting
  JOIN pg_locks wait ON wait.pid = waiting.pid AND NOT wait.granted
  LEFT JOIN pg_class class ON class.oid = wait.relation
  CROSS JOIN unnest(pg_blocking_pids(waiting.pid)) blocker(pid)
  LEFT JOIN pg_stat_activity holder ON holder.pid = blocker.pid
  -- The activity is read before the locks: its statement may otherwise be the one before. The event is read after the
  -- statement, which is that one while the session is idle.
  WHERE waiting.pid = $1 AND waiting.wait_event_type = 'Lock' AND waiting.state = 'active'
  ORDER BY blocker.pid`;
