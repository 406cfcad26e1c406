import type { DataSource, EntityManager, EntityMetadata } from 'typeorm';
import { driverErrorOf } from '../../database/database-failure.js';
import { ParameterValues } from '../../database/statement.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { identifierOf } from '../../resource/resource.js';
import { facetOf } from './facet.js';
import { type TallyOrder, tallyOrders, tallyRows } from './tally.js';

/** Minimum target number of objects of a range. */
const LEAST_RANGE_SIZE = 2000;
/** Maximum number of deltas that one transaction folds. */
const FOLD_SIZE = 50_000;
/** Maximum number of objects that one cut reads, or two ranges if those are more. Writers of the resource wait meanwhile. */
const CUT_SIZE = 100_000;
/**
 * Milliseconds that a cut waits for its lock. Writers that arrive meanwhile wait behind it. The
 * timeout doubles with each failed attempt, up to the maximum.
 */
const LOCK_TIMEOUT = { initial: 50, maximum: 800 };

/** The lower bound of a range. */
interface RangeBound {
  /** The value of the sorted column, as text; null in the first range, and in the order by identifier. */
  readonly value: string | null;
  readonly lowest: string;
}

/** Adjacent ranges of a facet that are replaced by ranges of the target size. */
interface Stretch {
  readonly facet: string;
  /** The first range. */
  readonly from: RangeBound;
  /** The next range after them; null at the end of the facet. */
  readonly upto: RangeBound | null;
  /** The target number of objects of a range. */
  readonly size: number;
}

/** A tally in one order, with the facets whose ranges may need a cut; `undefined` for all of them. */
interface MaintainedOrder extends TallyOrder {
  due: Set<string> | undefined;
}

/**
 * Keeps a resource's tally small: folds its deltas, cuts ranges that are too large, and joins ranges
 * that are too small. Several instances may run at a time; an advisory lock admits one of them.
 */
export class TallyMaintenance {
  private readonly orders: readonly MaintainedOrder[];
  private lockTimeout = LOCK_TIMEOUT.initial;

  constructor(
    private readonly dataSource: DataSource,
    private readonly metadata: EntityMetadata,
  ) {
    this.orders = tallyOrders(metadata).map((order) => ({ ...order, due: undefined }));
  }

  /**
   * Runs all maintenance that is due.
   *
   * @param signal stops it between two transactions
   * @returns false if it did not complete: another instance was running, a lock timed out, or `signal`
   * was aborted
   */
  async run(signal?: AbortSignal): Promise<boolean> {
    if (!(await this.fold())) return false;
    for (const order of this.orders) {
      if (!(await this.cutDue(order, signal))) return false;
    }
    return true;
  }

  /** Cuts every range of an order that needs it. Returns false if it did not complete. */
  private async cutDue(order: MaintainedOrder, signal?: AbortSignal): Promise<boolean> {
    order.due ??= new Set(await this.uncutFacets(order));
    for (const facet of order.due) {
      while (await this.nextStretch(this.dataSource.manager, order, facet)) {
        if (signal?.aborted || !(await this.cut(order, facet))) return false;
      }
      order.due.delete(facet);
    }
    return true;
  }

  /** Every facet whose ranges may need a cut. */
  private async uncutFacets(order: TallyOrder): Promise<string[]> {
    const rows = await this.dataSource.query<{ facet: string }[]>(
      `SELECT facet FROM ${tallyRows(order)} GROUP BY facet
       HAVING count(*) > 1 OR sum(count) > ${2 * LEAST_RANGE_SIZE} OR sum(count) <= 0`,
    );
    return rows.map(({ facet }) => facet);
  }

  /** Adds the deltas to the tally. Returns false if another instance is running. */
  private async fold(): Promise<boolean> {
    for (;;) {
      const folded = await this.exclusively(async (manager) => {
        let most = 0;
        for (const order of this.orders) most = Math.max(most, await foldOrder(manager, order));
        await manager.query(
          `WITH deleted AS (
             DELETE FROM resource_versions WHERE resource = $1
             AND (SELECT count(*) > 1 FROM resource_versions WHERE resource = $1)
             RETURNING stamp
           )
           INSERT INTO resource_versions SELECT $1, sum(stamp) FROM deleted HAVING count(*) > 0`,
          [this.metadata.tableName],
        );
        return most;
      });
      if (folded === undefined) return false;
      if (folded < FOLD_SIZE) return true;
    }
  }

  /** Cuts the first stretch of a facet that needs it. Returns false if a lock was not available. */
  private async cut(order: TallyOrder, facet: string): Promise<boolean> {
    try {
      const done = await this.exclusively(async (manager) => {
        await manager.query(`SET LOCAL lock_timeout = ${this.lockTimeout}`);
        // Deltas name the ranges that their writer read. So earlier writers must have ended, and no new
        // one may begin until the cut commits.
        await manager.query(`LOCK TABLE "${this.metadata.tableName}" IN SHARE MODE`);
        await manager.query(`UPDATE tallies SET cuts = cuts + 1 WHERE resource = $1`, [
          this.metadata.tableName,
        ]);
        const stretch = await this.nextStretch(manager, order, facet);
        if (stretch) await this.recut(manager, order, stretch);
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
  private async recut(manager: EntityManager, order: TallyOrder, stretch: Stretch): Promise<void> {
    const { tally, deltas, bounds, column } = order;
    const removal = new ParameterValues();
    const removed = `facet = ${removal.add(stretch.facet)} AND ${within(order, stretch, removal, 'value', 'lowest')}`;
    const [{ total }] = await manager.query<[{ total: string }]>(
      `WITH deleted AS (
         DELETE FROM ${tally} WHERE ${removed} RETURNING count
       ), deleted_deltas AS (
         DELETE FROM ${deltas} WHERE ${removed} RETURNING count
       )
       SELECT coalesce(sum(count), 0)::text AS total
       FROM (SELECT count FROM deleted UNION ALL SELECT count FROM deleted_deltas) every`,
      removal.values,
    );
    const { facet: name, from, size } = stretch;
    const facet = facetOf(name);
    const pieces = Math.max(2, Math.floor(CUT_SIZE / size));
    const maximum = pieces * size;
    const lowest = `object."${identifierOf(this.metadata).databaseName}"`;
    const value = column && `object."${column.databaseName}"`;
    const values = new ParameterValues();
    const conditions = [
      within(order, stretch, values, value ?? '', lowest),
      ...(value === undefined ? [] : [`${value} IS NOT NULL`]),
      ...facet.columns.map((each, at) => `object."${each}" = ${values.add(facet.values[at])}`),
    ];
    // The first range keeps its name. The objects beyond the maximum become one range, which the next
    // transaction cuts.
    const firstBounds = [
      ...(column ? [`${values.add(from.value)}::${sqlTypeOf(column)}`] : []),
      values.add(from.lowest),
    ];
    const named = bounds
      .split(', ')
      .map((bound, at) => `CASE at WHEN 0 THEN ${firstBounds[at]} ELSE ${bound} END`);
    await manager.query(
      `INSERT INTO ${tally} (facet, ${bounds}, count)
       SELECT ${values.add(name)}, ${named.join(', ')}, coalesce(
         lead(at) OVER (ORDER BY at), CASE WHEN read > ${maximum} THEN ${total} ELSE read END
       ) - at
       FROM (
         SELECT *, row_number() OVER (ORDER BY ${bounds}) - 1 AS at, count(*) OVER () AS read FROM (
           SELECT ${value === undefined ? '' : `${value} AS value, `}${lowest} AS lowest
           FROM "${this.metadata.tableName}" object
           WHERE ${conditions.join(' AND ')}
           ORDER BY ${bounds} LIMIT ${maximum + 1}
         ) first
       ) numbered
       WHERE at % ${size} = 0`,
      values.values,
    );
  }

  /** The first stretch of a facet that needs a cut; `undefined` if none does. */
  private async nextStretch(
    manager: EntityManager,
    order: TallyOrder,
    facet: string,
  ): Promise<Stretch | undefined> {
    const { bounds, boundOrder } = order;
    const bound = (range: string): string =>
      `jsonb_build_object('value', ${order.column ? `${range}.value::text` : 'NULL'}, 'lowest', ${range}.lowest)`;
    const [stretch] = await manager.query<Stretch[]>(
      `WITH ranges AS (
         SELECT ${bounds}, sum(count) AS count FROM ${tallyRows(order, 'WHERE facet = $1')}
         GROUP BY ${bounds}
       ), sized AS (
         SELECT *, lag(count) OVER ordered AS before, row_number() OVER ordered AS at,
           ${RANGE_SIZE} AS size, sum(count) OVER () AS total
         FROM ranges WINDOW ordered AS (ORDER BY ${boundOrder})
       ), grouped AS (
         SELECT *, count(*) FILTER (WHERE before IS NULL OR before + count >= size / 2)
           OVER (ORDER BY at) AS stretch
         FROM sized
       ), due AS (
         SELECT size, min(at) AS at, count(*) AS ranges FROM grouped GROUP BY stretch, size, total
         HAVING sum(count) > 2 * size OR count(*) > 1 OR total <= 0
         ORDER BY at LIMIT 1
       )
       SELECT $1 AS facet, due.size, ${bound('first')} AS from,
         CASE WHEN next.at IS NOT NULL THEN ${bound('next')} END AS upto
       FROM due JOIN sized first USING (at) LEFT JOIN sized next ON next.at = due.at + due.ranges`,
      [facet],
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
const RANGE_SIZE = `greatest(${LEAST_RANGE_SIZE}, 4 * sqrt(abs(sum(count) OVER ())))::integer`;

function isLockTimeout(error: unknown): boolean {
  // https://www.postgresql.org/docs/current/errcodes-appendix.html: lock_not_available
  return driverErrorOf(error).code === '55P03';
}

/** Adds the deltas of an order to its tally, at most `FOLD_SIZE`. Returns how many. */
async function foldOrder(manager: EntityManager, order: MaintainedOrder): Promise<number> {
  const { tally, deltas, bounds, due } = order;
  const folded = await manager.query<{ facet: string; deltas: string }[]>(
    `WITH deleted AS (
       DELETE FROM ${deltas}
       WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${deltas} LIMIT ${FOLD_SIZE}))
       RETURNING facet, ${bounds}, count
     ), kept AS (
       INSERT INTO ${tally} AS tally (facet, ${bounds}, count)
       SELECT facet, ${bounds}, sum(count) FROM deleted GROUP BY facet, ${bounds}
       ON CONFLICT (facet, ${bounds}) DO UPDATE SET count = tally.count + excluded.count
     )
     SELECT facet, count(*) AS deltas FROM deleted GROUP BY facet`,
  );
  for (const { facet } of folded) due?.add(facet);
  return folded.reduce((sum, { deltas: count }) => sum + Number(count), 0);
}

/** The condition that a row lies in a stretch. */
function within(
  { column }: TallyOrder,
  { from, upto }: Stretch,
  values: ParameterValues,
  value: string,
  lowest: string,
): string {
  const row = column ? `(${value}, ${lowest})` : lowest;
  const bound = (range: RangeBound): string =>
    column
      ? `(${values.add(range.value)}::${sqlTypeOf(column)}, ${values.add(range.lowest)})`
      : values.add(range.lowest);
  const isFirst = column !== undefined && from.value === null;
  // No row compares with the missing value of the first range.
  const above = isFirst ? [] : [`${row} >= ${bound(from)}`];
  const below = upto ? `${row} < ${bound(upto)}` : undefined;
  const conditions = below ? [...above, isFirst ? `(${value} IS NULL OR ${below})` : below] : above;
  return conditions.length === 0 ? 'true' : conditions.join(' AND ');
}
