import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';

/** Milliseconds between two looks: several of them fall into each wait of a migration. */
const EVERY = 100;
/** Milliseconds between two lines about the same holders, and about any. */
const REPEAT = { same: 10_000, any: 1000 };
/** Holders that a line names. */
const NAMED = 3;
/** Characters of a statement that a line shows. */
const SHOWN = 100;

/** What a session waits for, and one of the sessions that hold it. */
interface Wait {
  readonly lock: string;
  /** The table in SQL; null where it is not a lock on a table. */
  readonly table: string | null;
  readonly statement: string;
  /** 0 for a prepared transaction. */
  readonly pid: number;
  /** What it calls itself, or what it is to PostgreSQL. */
  readonly application: string | null;
  /** Null, as is `seconds`, where the role may not see it. */
  readonly state: string | null;
  /** For how long its transaction is open. */
  readonly seconds: number | null;
  /** Whether it holds the table as VACUUM does. */
  readonly vacuums: boolean;
}

/** Looks from a second connection at what a session waits for, and tells of it. */
export class LockWatch {
  private vacuumed: string | null = null;
  private readonly done = new AbortController();
  private readonly running: Promise<void>;
  private readonly told = { key: '', at: -Infinity };

  /**
   * @param pid the session's
   * @param onWaiting is told a line when the holders change, and every ten seconds
   * @param signal from then on, what the session is at is cancelled
   */
  constructor(
    private readonly dataSource: DataSource,
    private readonly pid: number,
    private readonly onWaiting: (line: string) => void,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.running = this.run();
  }

  /** The table, in SQL, that a VACUUM kept from the session when it waited last; told once. */
  takeVacuumed(): string | null {
    const table = this.vacuumed;
    this.vacuumed = null;
    return table;
  }

  async stop(): Promise<void> {
    this.done.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.done.signal.aborted) {
      try {
        // Again and again, since one that comes between two statements has no effect.
        if (this.signal?.aborted)
          await this.dataSource.query('SELECT pg_cancel_backend($1)', [this.pid]);
        else this.tell(await this.dataSource.query<Wait[]>(WAITS, [this.pid]));
      } catch {
        // A database that has gone away is the session's to tell.
      }
      await sleep(EVERY, undefined, { signal: this.done.signal }).catch(() => undefined);
    }
  }

  private tell(waits: readonly Wait[]): void {
    const [wait] = waits;
    if (!wait) return;
    this.vacuumed = waits.some(({ vacuums }) => vacuums) ? wait.table : null;
    const key = [wait.lock, ...waits.map(({ pid }) => pid)].join();
    const passed = performance.now() - this.told.at;
    if (passed < (key === this.told.key ? REPEAT.same : REPEAT.any)) return;
    Object.assign(this.told, { key, at: performance.now() });
    this.onWaiting(lineOf(wait, waits));
  }
}

function lineOf({ lock, statement }: Wait, waits: readonly Wait[]): string {
  const named = waits.slice(0, NAMED).map(holderOf);
  if (waits.length > NAMED) named.push(`${waits.length - NAMED} others`);
  const flat = statement.replace(/\s+/g, ' ').trim();
  const shown = flat.length > SHOWN ? `${flat.slice(0, SHOWN)}…` : flat;
  return `waits for ${lock}, held by ${named.join(' and ')}: ${shown}`;
}

function holderOf({ pid, application, state, seconds }: Wait): string {
  if (pid === 0) return 'a prepared transaction';
  const facts = [application, state, seconds === null ? null : `in a transaction for ${seconds} s`];
  const known = facts.filter((fact) => fact !== null);
  return known.length > 0 ? `pid ${pid} (${known.join(', ')})` : `pid ${pid}`;
}

/** https://www.postgresql.org/docs/current/view-pg-locks.html */
const WAITS = `
  SELECT DISTINCT
    CASE WHEN wait.relation IS NOT NULL THEN wait.mode || ' on ' || wait.relation::regclass
      WHEN wait.locktype IN ('virtualxid', 'transactionid') THEN 'the end of a transaction'
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
  WHERE waiting.pid = $1
  ORDER BY blocker.pid`;
