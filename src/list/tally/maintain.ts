import type { DataSource, EntityManager, EntityMetadata } from 'typeorm';
import { driverErrorOf } from '../../database/database-failure.js';
import { identifierOf } from '../../resource/resource.js';
import { facetOf } from './facet.js';
import { tallyRows, tallyTables } from './tally.js';

/** Maximum number of deltas that one transaction folds. */
const FOLD_SIZE = 50_000;
/** Maximum number of objects that one cut reads, or two ranges if those are more. Writers of the resource wait meanwhile. */
const CUT_SIZE = 100_000;
/**
 * Milliseconds that a cut waits for its lock. Writers that arrive meanwhile wait behind it. The
 * timeout doubles with each failed attempt, up to the maximum.
 */
const LOCK_TIMEOUT = { initial: 50, maximum: 800 };

/** Adjacent ranges of a facet that are replaced by ranges of the target size. */
interface Stretch {
  readonly facet: string;
  /** The lower bound of the first range. */
  readonly lowest: string;
  /** The lower bound of the next range after them; null at the end of the facet. */
  readonly upper: string | null;
  /** The target number of objects of a range. */
  readonly size: number;
}

/**
 * Keeps a resource's tally small: folds its deltas, cuts ranges that are too large, and joins ranges
 * that are too small. Several instances may run at a time; an advisory lock admits one of them.
 */
export class TallyMaintenance {
  /** Facets whose ranges may need a cut; `undefined` before the first check: all. */
  private due: Set<string> | undefined;
  private lockTimeout = LOCK_TIMEOUT.initial;

  constructor(
    private readonly dataSource: DataSource,
    private readonly metadata: EntityMetadata,
  ) {}

  /**
   * Runs all maintenance that is due.
   *
   * @param signal stops it between two transactions
   * @returns false if it did not complete: another instance was running, a lock timed out, or `signal`
   * was aborted
   */
  async run(signal?: AbortSignal): Promise<boolean> {
    if (!(await this.fold())) return false;
    const facets = this.due && [...this.due];
    if (facets?.length === 0) return true;
    while (!signal?.aborted) {
      const stretch = await this.nextStretch(this.dataSource.manager, facets);
      if (!stretch) {
        this.due = new Set();
        return true;
      }
      if (!(await this.cut(stretch.facet))) break;
    }
    return false;
  }

  /** Adds the deltas to the tally. Returns false if another instance is running. */
  private async fold(): Promise<boolean> {
    const { tally, deltas } = tallyTables(this.metadata);
    for (;;) {
      const folded = await this.exclusively(async (manager) => {
        const facets = await manager.query<{ facet: string; deltas: string }[]>(
          `WITH deleted AS (
             DELETE FROM ${deltas}
             WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${deltas} LIMIT ${FOLD_SIZE}))
             RETURNING facet, lowest, count
           ), kept AS (
             INSERT INTO ${tally} AS tally
             SELECT facet, lowest, sum(count) FROM deleted GROUP BY facet, lowest
             ON CONFLICT (facet, lowest) DO UPDATE SET count = tally.count + excluded.count
           )
           SELECT facet, count(*) AS deltas FROM deleted GROUP BY facet`,
        );
        await manager.query(
          `WITH deleted AS (
             DELETE FROM resource_versions WHERE resource = $1
             AND (SELECT count(*) > 1 FROM resource_versions WHERE resource = $1)
             RETURNING stamp
           )
           INSERT INTO resource_versions SELECT $1, sum(stamp) FROM deleted HAVING count(*) > 0`,
          [this.metadata.tableName],
        );
        return facets;
      });
      if (!folded) return false;
      for (const { facet } of folded) this.due?.add(facet);
      const deltasFolded = folded.reduce((sum, facet) => sum + Number(facet.deltas), 0);
      if (deltasFolded < FOLD_SIZE) return true;
    }
  }

  /** Cuts the first stretch of a facet that needs it. Returns false if a lock was not available. */
  private async cut(facet: string): Promise<boolean> {
    try {
      const done = await this.exclusively(async (manager) => {
        await manager.query(`SET LOCAL lock_timeout = ${this.lockTimeout}`);
        // Deltas name the ranges that their writer read. So earlier writers must have ended, and no new
        // one may begin until the cut commits.
        await manager.query(`LOCK TABLE "${this.metadata.tableName}" IN SHARE MODE`);
        await manager.query(`UPDATE tallies SET cuts = cuts + 1 WHERE resource = $1`, [
          this.metadata.tableName,
        ]);
        const stretch = await this.nextStretch(manager, [facet]);
        if (stretch) await this.recut(manager, stretch);
        return true;
      });
      this.lockTimeout = LOCK_TIMEOUT.initial;
      return done ?? false;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      this.lockTimeout = Math.min(2 * this.lockTimeout, LOCK_TIMEOUT.maximum);
      return false;
    }
  }

  /** Replaces the ranges of a stretch. The caller holds the lock. */
  private async recut(manager: EntityManager, stretch: Stretch): Promise<void> {
    const { tally, deltas } = tallyTables(this.metadata);
    const key = `"${identifierOf(this.metadata).databaseName}"`;
    const { facet: name, lowest, upper, size } = stretch;
    const within = (column: string): string =>
      `${column} >= $2${upper === null ? '' : ` AND ${column} < $3`}`;
    const bounds = upper === null ? [lowest] : [lowest, upper];
    const [{ total }] = await manager.query<[{ total: string }]>(
      `WITH deleted AS (
         DELETE FROM ${tally} WHERE facet = $1 AND ${within('lowest')} RETURNING count
       ), deleted_deltas AS (
         DELETE FROM ${deltas} WHERE facet = $1 AND ${within('lowest')} RETURNING count
       )
       SELECT coalesce(sum(count), 0)::text AS total
       FROM (SELECT count FROM deleted UNION ALL SELECT count FROM deleted_deltas) every`,
      [name, ...bounds],
    );
    const facet = facetOf(name);
    const pieces = Math.max(2, Math.floor(CUT_SIZE / size));
    const maximum = pieces * size;
    // The objects beyond the maximum become one range, which the next transaction cuts.
    await manager.query(
      `INSERT INTO ${tally}
       SELECT $1, CASE at WHEN 0 THEN $2 ELSE key END, coalesce(
         lead(at) OVER (ORDER BY at), CASE WHEN read > ${maximum} THEN ${total} ELSE read END
       ) - at
       FROM (
         SELECT key, row_number() OVER (ORDER BY key) - 1 AS at, count(*) OVER () AS read FROM (
           SELECT ${key} AS key FROM "${this.metadata.tableName}"
           WHERE ${within(key)}${facet === 'all' ? '' : ` AND "${facet.column}" = $${bounds.length + 2}`}
           ORDER BY key LIMIT ${maximum + 1}
         ) first
       ) numbered
       WHERE at % ${size} = 0`,
      [name, ...bounds, ...(facet === 'all' ? [] : [facet.value])],
    );
  }

  /** The first stretch that needs a cut, in some facets or in all; `undefined` if none does. */
  private async nextStretch(
    manager: EntityManager,
    facets: readonly string[] | undefined,
  ): Promise<Stretch | undefined> {
    const among = facets ? 'WHERE facet = ANY($1)' : '';
    const [stretch] = await manager.query<Stretch[]>(
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
    return stretch;
  }

  /** Runs a transaction with the advisory lock of the resource; `undefined` if another holds it. */
  private exclusively<T>(work: (manager: EntityManager) => Promise<T>): Promise<T | undefined> {
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
 * SQL for the target number of objects of a range. Finding an offset adds up the ranges and then skips
 * within one. With this size both grow with the square root of the objects. A small facet is one
 * range.
 */
const RANGE_SIZE = `greatest(2000, 4 * sqrt(abs(sum(count) OVER (PARTITION BY facet))))::integer`;

function isLockTimeout(error: unknown): boolean {
  // https://www.postgresql.org/docs/current/errcodes-appendix.html: lock_not_available
  return driverErrorOf(error).code === '55P03';
}
