import { Logger } from '@nestjs/common';
import type { Pool } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../settings/settings.js';
import { databaseFailure, driverErrorOf } from './database-failure.js';
import { type Position, positionOf, probeOf, Replica } from './replica.js';

/** Milliseconds between two looks at the servers. */
const EVERY = 250;
/** Milliseconds for which a replica is not asked that answers what the primary would not. */
const SUSPENSION = 60_000;

type ReplicaSettings = Pick<
  Settings,
  'replicaUrls' | 'maxReplicaLag' | 'poolSize' | 'queryTimeout'
>;

/** How far the primary was at a moment of the monotonic clock. */
interface Milestone extends Position {
  readonly at: number;
}

/**
 * The replicas of a database, each of which answers as long as it is known to have every commit up
 * to a moment not too long ago. That is found by asking the primary how far it is, and later each
 * replica whether it has come that far: no clock is compared with another's, and a replica that has
 * lost its primary falls behind like any other.
 */
export class Replicas {
  private readonly logger = new Logger(Replicas.name);
  /** Milliseconds that an answer may be behind the primary. */
  private readonly maxLag: number;
  private readonly replicas: readonly Replica[];
  private readonly primary: Pool;
  /** The latest last. */
  private milestones: Milestone[] = [];
  private readonly stopping = new AbortController();
  private readonly watching: Promise<void>;

  constructor(primaryUrl: string, settings: ReplicaSettings) {
    const { replicaUrls } = settings;
    this.maxLag = settings.maxReplicaLag;
    this.primary = probeOf(primaryUrl);
    this.replicas = replicaUrls.map((url) => new Replica(nameOf(url), url, settings));
    this.watching = replicaUrls.length > 0 ? this.watch() : Promise.resolve();
  }

  /** By the name of each, the milliseconds that it may be behind the primary; infinite while it is away. */
  get lags(): ReadonlyMap<string, number> {
    const now = performance.now();
    return new Map(this.replicas.map(({ name, asOf }) => [name, now - asOf]));
  }

  /** By the name of each that is left out, why. */
  get problems(): ReadonlyMap<string, string> {
    return new Map(
      this.replicas.flatMap(({ name, problem }) => (problem ? [[name, problem] as const] : [])),
    );
  }

  /** Those that answer now. */
  get well(): Replica[] {
    const now = performance.now();
    return this.replicas.filter(
      ({ asOf, suspendedUntil }) => now - asOf <= this.maxLag && now >= suspendedUntil,
    );
  }

  /**
   * Does some reading on a replica, on another one if that turns out to be away, or at last on the
   * primary.
   */
  async read<T>(primary: Pool, work: (pool: Pool) => Promise<T>): Promise<T> {
    const tried = new Set<Replica>();
    for (;;) {
      const [replica] = this.well
        .filter((candidate) => !tried.has(candidate))
        .sort((one, other) => one.load - other.load);
      if (!replica) return work(primary);
      tried.add(replica);
      try {
        return await work(replica.pool);
      } catch (error) {
        if (!this.shouldRetryElsewhere(replica, error)) throw error;
      }
    }
  }

  /** Whether another server may answer what this replica could not. It then gets no requests for a while. */
  private shouldRetryElsewhere(replica: Replica, error: unknown): boolean {
    const { code, message } = driverErrorOf(error);
    // https://www.postgresql.org/docs/current/errcodes-appendix.html: serialization_failure. On a
    // replica it means that the primary has removed a row that the query needs.
    if (code === '40001' || message === 'Query read timeout') return true;
    const failure = databaseFailure(error);
    if (failure === 'unreachable') {
      // Until the next look at it, so that not every request finds out by itself.
      replica.asOf = -Infinity;
      return true;
    }
    // Class 42: no privilege, no such table.
    if (failure || !code?.startsWith('42')) return false;
    replica.suspendedUntil = performance.now() + SUSPENSION;
    this.logger.warn(`The replica ${replica.name} is left out for a minute: ${message}`);
    return true;
  }

  async close(): Promise<void> {
    this.stopping.abort();
    await this.watching;
    await Promise.all([this.primary.end(), ...this.replicas.map((replica) => replica.close())]);
  }

  private async watch(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await this.passMilestone();
      await Promise.all(this.replicas.map((replica) => this.look(replica)));
      await sleep(EVERY, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Asks the primary how far it is. While it does not say, every replica falls behind. */
  private async passMilestone(): Promise<void> {
    // Before it is asked: what was committed until then is behind the position that it gives.
    const at = performance.now();
    try {
      const position = await positionOf(this.primary, 'pg_current_wal_lsn()');
      if (position) this.milestones.push({ at, ...position });
    } catch {
      return;
    }
    const oldest = this.milestones.findIndex((milestone) => at - milestone.at <= this.maxLag);
    this.milestones = this.milestones.slice(oldest);
  }

  private async look(replica: Replica): Promise<void> {
    const { problem } = replica;
    try {
      const { history, bytes } = await replica.position();
      if (this.milestones.some((milestone) => milestone.history !== history)) {
        throw new Error('it is a replica of another server, database or timeline');
      }
      const reached = this.milestones.findLast((milestone) => milestone.bytes <= bytes);
      replica.asOf = reached?.at ?? -Infinity;
      // One that is new may not have come to the first milestone yet.
      const isBehind = performance.now() - Math.max(replica.asOf, replica.since) > this.maxLag;
      replica.problem = isBehind ? `it is more than ${this.maxLag} ms behind` : undefined;
    } catch (error) {
      const { code, message } = driverErrorOf(error);
      replica.leaveOut(code ?? message);
    }
    // Once, not at every look.
    if (replica.problem !== undefined && problem === undefined) {
      this.logger.warn(`The replica ${replica.name} is left out: ${replica.problem}`);
    } else if (replica.problem === undefined && problem !== undefined) {
      this.logger.log(`The replica ${replica.name} is back`);
    }
  }
}

/** Where a server is, without who asks it. */
function nameOf(url: string): string {
  const { host, pathname } = new URL(url);
  return host + pathname;
}
