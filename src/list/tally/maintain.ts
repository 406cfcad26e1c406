import type { DataSource, EntityManager, EntityMetadata } from 'typeorm';
import { driverErrorOf } from '../../database/database-failure.js';
import { identifierOf } from '../../resource/resource.js';
import { facetOf } from './facet.js';
import { tallyRows, tallyTables } from './tally.js';

/** Deltas that one transaction folds. */
const FOLDED_AT_ONCE = 50_000;
/** Objects that one transaction reads in order to cut, while writers of the resource wait. */
const READ_AT_ONCE = 100_000;
/**
 * How long a cut waits for the writers before it, in milliseconds, and those behind it for the cut:
 * at first, and after many tries in vain.
 */
const LOCK_TIMEOUT = { first: 50, most: 800 };

/** Some ranges of a facet that shall be cut anew. */
interface Stretch {
  readonly facet: string;
  /** The name of the first of them. */
  readonly lowest: string;
  /** The name of the one after the last; null where there is none. */
  readonly upper: string | null;
  /** Objects that a range shall have. */
  readonly size: number;
}

/**
 * Keeps a resource's tally small: folds its deltas in and cuts ranges that have grown too large, or
 * joins those that have become too small. Any number may try at once, in which case one does it.
 */
export class TallyMaintenance {
  /** Facets whose ranges may need a cut; undefined: any. */
  private due: Set<string> | undefined;
  private lockTimeout = LOCK_TIMEOUT.first;

  constructor(
    private readonly dataSource: DataSource,
    private readonly metadata: EntityMetadata,
  ) {}

  /**
   * Does what is to be done now; false if some of it must wait, since a writer or another
   * maintenance was in the way.
   *
   * @param signal ends it early, between two of its transactions
   */
  async run(signal?: AbortSignal): Promise<boolean> {
    if (!(await this.fold())) return false;
    const facets = this.due && [...this.due];
    if (facets?.length === 0) return true;
    while (!signal?.aborted) {
      const [stretch] = await this.stretches(this.dataSource.manager, facets);
      if (!stretch) {
        this.due = new Set();
        return true;
      }
      if (!(await this.cut(stretch.facet))) break;
    }
    return false;
  }

  /** Adds the deltas to the tally; false if another one is at it. */
  private async fold(): Promise<boolean> {
    const { tally, deltas } = tallyTables(this.metadata);
    for (;;) {
      const folded = await this.alone(async (manager) => {
        const facets = await manager.query<{ facet: string; deltas: string }[]>(
          `WITH gone AS (
             DELETE FROM ${deltas}
             WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${deltas} LIMIT ${FOLDED_AT_ONCE}))
             RETURNING facet, lowest, count
           ), kept AS (
             INSERT INTO ${tally} AS tally
             SELECT facet, lowest, sum(count) FROM gone GROUP BY facet, lowest
             ON CONFLICT (facet, lowest) DO UPDATE SET count = tally.count + excluded.count
           )
           SELECT facet, count(*) AS deltas FROM gone GROUP BY facet`,
        );
        await manager.query(
          `WITH gone AS (
             DELETE FROM resource_versions WHERE resource = $1
             AND (SELECT count(*) > 1 FROM resource_versions WHERE resource = $1)
             RETURNING stamp
           )
           INSERT INTO resource_versions SELECT $1, sum(stamp) FROM gone HAVING count(*) > 0`,
          [this.metadata.tableName],
        );
        return facets;
      });
      if (!folded) return false;
      for (const { facet } of folded) this.due?.add(facet);
      const deltasFolded = folded.reduce((sum, facet) => sum + Number(facet.deltas), 0);
      if (deltasFolded < FOLDED_AT_ONCE) return true;
    }
  }

  /** Cuts the first stretch of a facet that needs it; false if someone was in the way. */
  private async cut(facet: string): Promise<boolean> {
    try {
      const done = await this.alone(async (manager) => {
        await manager.query(`SET LOCAL lock_timeout = ${this.lockTimeout}`);
        // A writer whose deltas still name the old ranges must have ended, and none may begin.
        await manager.query(`LOCK TABLE "${this.metadata.tableName}" IN SHARE MODE`);
        await manager.query(`UPDATE tallies SET cuts = cuts + 1 WHERE resource = $1`, [
          this.metadata.tableName,
        ]);
        const [stretch] = await this.stretches(manager, [facet]);
        if (stretch) await this.recut(manager, stretch);
        return true;
      });
      this.lockTimeout = LOCK_TIMEOUT.first;
      return done ?? false;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      this.lockTimeout = Math.min(2 * this.lockTimeout, LOCK_TIMEOUT.most);
      return false;
    }
  }

  /** Replaces the ranges of a stretch, with the lock held. */
  private async recut(manager: EntityManager, stretch: Stretch): Promise<void> {
    const { tally, deltas } = tallyTables(this.metadata);
    const key = `"${identifierOf(this.metadata).databaseName}"`;
    const { facet: name, lowest, upper, size } = stretch;
    const within = (column: string): string =>
      `${column} >= $2${upper === null ? '' : ` AND ${column} < $3`}`;
    const bounds = upper === null ? [lowest] : [lowest, upper];
    const [{ total }] = await manager.query<[{ total: string }]>(
      `WITH gone AS (
         DELETE FROM ${tally} WHERE facet = $1 AND ${within('lowest')} RETURNING count
       ), gone_deltas AS (
         DELETE FROM ${deltas} WHERE facet = $1 AND ${within('lowest')} RETURNING count
       )
       SELECT coalesce(sum(count), 0)::text AS total
       FROM (SELECT count FROM gone UNION ALL SELECT count FROM gone_deltas) every`,
      [name, ...bounds],
    );
    const facet = facetOf(name);
    const pieces = Math.max(2, Math.floor(READ_AT_ONCE / size));
    const most = pieces * size;
    // What lies beyond the objects read stays together, to be cut by the next transaction.
    await manager.query(
      `INSERT INTO ${tally}
       SELECT $1, CASE at WHEN 0 THEN $2 ELSE key END, coalesce(
         lead(at) OVER (ORDER BY at), CASE WHEN read > ${most} THEN ${total} ELSE read END
       ) - at
       FROM (
         SELECT key, row_number() OVER (ORDER BY key) - 1 AS at, count(*) OVER () AS read FROM (
           SELECT ${key} AS key FROM "${this.metadata.tableName}"
           WHERE ${within(key)}${facet === 'all' ? '' : ` AND "${facet.column}" = $${bounds.length + 2}`}
           ORDER BY key LIMIT ${most + 1}
         ) first
       ) numbered
       WHERE at % ${size} = 0`,
      [name, ...bounds, ...(facet === 'all' ? [] : [facet.value])],
    );
  }

  /** The stretches that need a cut, among some facets or all. */
  private stretches(
    manager: EntityManager,
    facets: readonly string[] | undefined,
  ): Promise<Stretch[]> {
    const among = facets ? 'WHERE facet = ANY($1)' : '';
    return manager.query<Stretch[]>(
      `WITH ranges AS (
         SELECT facet, lowest, sum(count) AS count FROM ${tallyRows(this.metadata, among)}
         GROUP BY facet, lowest
       ), sized AS (
         SELECT *, lag(count) OVER (PARTITION BY facet ORDER BY lowest) AS before,
           ${RANGE_SIZE} AS size, sum(count) OVER (PARTITION BY facet) AS total
         FROM ranges
       ), grouped AS (
         SELECT *, count(*) FILTER (WHERE before IS NULL OR before + count >= size / 2)
           OVER (PARTITION BY facet ORDER BY lowest) AS stretch
         FROM sized
       ), stretches AS (
         SELECT facet, size, total, min(lowest) AS lowest, sum(count) AS count, count(*) AS ranges,
           lead(min(lowest)) OVER (PARTITION BY facet ORDER BY stretch) AS upper
         FROM grouped GROUP BY facet, stretch, size, total
       )
       SELECT facet, lowest, upper, size FROM stretches
       WHERE count > 2 * size OR ranges > 1 OR total <= 0
       ORDER BY facet, lowest LIMIT 1`,
      facets && [facets],
    );
  }

  /** Runs a transaction, as the only maintenance of the resource; undefined if there is another. */
  private alone<T>(work: (manager: EntityManager) => Promise<T>): Promise<T | undefined> {
    return this.dataSource.transaction('READ COMMITTED', async (manager) => {
      const [{ free }] = await manager.query<[{ free: boolean }]>(
        'SELECT pg_try_advisory_xact_lock(hashtext($1)) AS free',
        [`tally ${this.metadata.tableName}`],
      );
      return free ? work(manager) : undefined;
    });
  }
}

/**
 * Objects of a range: finding an offset adds up the ranges and then skips within one, so both grow
 * with the square root of the objects only. Small facets are one range and skipped through.
 */
const RANGE_SIZE = `greatest(2000, 4 * sqrt(abs(sum(count) OVER (PARTITION BY facet))))::integer`;

function isLockTimeout(error: unknown): boolean {
  // https://www.postgresql.org/docs/current/errcodes-appendix.html: lock_not_available
  return driverErrorOf(error).code === '55P03';
}
