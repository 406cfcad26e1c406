import type { DataSource, EntityManager, EntityMetadata } from 'typeorm';
import { isLockTimeout } from '../database/database-failure.js';
import { nameOf, tableOf } from '../resource/resource.js';
import { type CellCut, cellCutsDue, cutCells, recut, stretchesDue } from './cut.js';
import { type CellTally, type Tally, tallyOf, type TallyOrder } from './described-tally.js';
import { analyseWritten, REPORT_WRITES } from './statistics.js';

/** Maximum number of deltas of each table that a transaction folds. */
export const FOLD_SIZE = 50_000;

/** Maximum number of objects that one cut reads, or two ranges if those are more. Writers of the resource wait meanwhile. */
const CUT_SIZE = 100_000;
/** As `CUT_SIZE`, for a cut of cells, which counts the objects by every facet. */
const CELLS_SIZE = 25_000;
/**
 * Milliseconds that a cut waits for its lock. Writers that arrive meanwhile wait behind it. The
 * timeout doubles with each failed attempt, up to the maximum.
 */
const LOCK_TIMEOUT = { initial: 50, maximum: 800 };
/** Maximum number of facets that one cut looks at. */
const FACETS_PER_CUT = 50;
/** Cuts between two folds. */
const CUTS_PER_FOLD = 10;

/** A tally in one order, with the facets whose ranges may need a cut; `undefined` for all of them. */
interface MaintainedOrder extends TallyOrder {
  due: Set<string> | undefined;
}

/** The cells of a column. They may need a cut if `due` has any facet. */
interface MaintainedCells extends CellTally {
  due: Set<string>;
}

/**
 * Keeps a resource's tally small: folds its deltas, cuts ranges that are too large, and joins ranges
 * that are too small. Several instances may run at a time; an advisory lock admits one of them.
 */
export class TallyMaintenance {
  private readonly orders: readonly MaintainedOrder[];
  private readonly cells: readonly MaintainedCells[];
  private readonly tallies: readonly (Tally & { readonly due?: Set<string> })[];
  private readonly resource: string;
  private lockTimeout = LOCK_TIMEOUT.initial;

  /**
   * @param foldSize deltas of each table that a transaction folds at most
   * @param rangeSize the target number of objects of every range; by default it follows from the facet
   */
  constructor(
    private readonly dataSource: DataSource,
    private readonly metadata: EntityMetadata,
    private readonly foldSize = FOLD_SIZE,
    private readonly rangeSize?: number,
  ) {
    const { byIdentifier, byValue, byCell, byWord, byItem } = tallyOf(metadata);
    this.orders = [byIdentifier, ...byValue].map((order) => ({ ...order, due: undefined }));
    this.cells = byCell.map((cells) => ({ ...cells, due: new Set(['']) }));
    this.tallies = [...this.orders, ...this.cells, ...byWord, ...byItem];
    this.resource = nameOf(metadata);
  }

  /** The number of deltas that wait to be folded, of each table `foldSize` at most. */
  async waiting(): Promise<number> {
    const counts = this.tallies.map(
      ({ deltas }) => `(SELECT count(*) FROM (SELECT FROM ${deltas} LIMIT ${this.foldSize}) first)`,
    );
    const [{ waiting }] = await this.dataSource.query<[{ waiting: string }]>(
      `SELECT ${counts.join(' + ')} AS waiting`,
    );
    return Number(waiting);
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
    for (const cells of this.cells) {
      if (!(await this.cutCellsDue(cells, signal))) return false;
    }
    return true;
  }

  /** Divides and joins the cells of a column that need it. Returns false if it did not complete. */
  private async cutCellsDue(cells: MaintainedCells, signal?: AbortSignal): Promise<boolean> {
    if (cells.due.size === 0) return true;
    const due = (manager: EntityManager): Promise<CellCut[]> =>
      cellCutsDue(manager, this.metadata, cells, this.rangeSize);
    // Without the lock, that most runs need not take.
    for (let cuts = 1; (await due(this.dataSource.manager)).length > 0; cuts += 1) {
      if (signal?.aborted) return false;
      const done = await this.withoutWriters(async (manager) => {
        const [cut] = await due(manager);
        return cut && cutCells(manager, this.metadata, cells, cut, CELLS_SIZE);
      });
      if (done === undefined) return false;
      if (!done) break;
      if (cuts % CUTS_PER_FOLD === 0 && !(await this.fold())) return false;
    }
    cells.due.clear();
    return true;
  }

  /** Cuts every range of an order that needs it. Returns false if it did not complete. */
  private async cutDue(order: MaintainedOrder, signal?: AbortSignal): Promise<boolean> {
    if (order.due?.size === 0) return true;
    // Without the lock, that most runs need not take.
    const looked = order.due && [...order.due];
    const found = await stretchesDue(this.dataSource.manager, order, looked, this.rangeSize);
    // Those that a fold adds meanwhile are for the next run.
    const facets = found.map(({ facet }) => facet);
    order.due = new Set(facets);
    for (let cuts = 1; facets.length > 0; cuts += 1) {
      const done = signal?.aborted
        ? undefined
        : await this.cut(order, facets.slice(0, FACETS_PER_CUT));
      if (done === undefined) return false;
      for (const facet of facets.splice(0, done)) order.due.delete(facet);
      // The cuts after a large import take a minute. Lists read the deltas meanwhile.
      if (cuts % CUTS_PER_FOLD === 0 && !(await this.fold())) return false;
    }
    return true;
  }

  /** Merges the stamps, and adds the deltas to the tally. Returns false if another instance is running. */
  private async fold(): Promise<boolean> {
    // On its own: each request reads the stamps since the last time, and deltas may take long.
    const versions = await this.exclusively((manager) =>
      manager.query<unknown>('SELECT fold_versions($1)', [this.resource]),
    );
    if (!versions) return false;
    let folded: number | undefined;
    do {
      folded = await this.exclusively((manager) => this.foldDeltas(manager));
      if (folded === undefined) return false;
    } while (folded === this.foldSize);
    const tables = this.tallies.flatMap(({ tally, deltas }) => [tally, deltas]);
    await analyseWritten(this.dataSource, tables);
    return true;
  }

  /** Adds up to `foldSize` deltas to each tally. Returns the maximum number that one had. */
  private async foldDeltas(manager: EntityManager): Promise<number> {
    // Before the tally, as TRUNCATE locks them; otherwise they deadlock.
    await manager.query(`LOCK TABLE ${tableOf(this.metadata)} IN ACCESS SHARE MODE`);
    let maximum = 0;
    for (const { tally, deltas, key, due } of this.tallies) {
      const [folded] = await manager.query<[{ facets: string[]; deltas: number }]>(
        `WITH deleted AS (
           DELETE FROM ${deltas}
           WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${deltas} LIMIT ${this.foldSize}))
           RETURNING ${key}, count
         ), added AS (
           INSERT INTO ${tally} AS tally (${key}, count)
           SELECT ${key}, sum(count) FROM deleted GROUP BY ${key}
           ON CONFLICT (${key}) DO UPDATE SET count = tally.count + excluded.count
         )
         SELECT ARRAY(SELECT DISTINCT facet FROM deleted) AS facets, count(*)::integer AS deltas FROM deleted`,
      );
      for (const facet of folded.facets) due?.add(facet);
      maximum = Math.max(maximum, folded.deltas);
    }
    return maximum;
  }

  /**
   * Cuts the stretches of facets that need it, up to `CUT_SIZE` objects. Returns how many of the facets, from the first,
   * need no further cut; `undefined` if a lock was not available.
   */
  private async cut(order: TallyOrder, facets: readonly string[]): Promise<number | undefined> {
    return this.withoutWriters(async (manager) => {
      let objects = 0;
      for (const [at, facet] of facets.entries()) {
        for (;;) {
          const [stretch] = await stretchesDue(manager, order, [facet], this.rangeSize);
          if (!stretch) break;
          if (objects >= CUT_SIZE) return at;
          objects += await recut(manager, this.metadata, order, stretch, CUT_SIZE - objects);
        }
      }
      return facets.length;
    });
  }

  /** Runs a transaction beside which nobody writes the resource; `undefined` if a lock was not available. */
  private async withoutWriters<T>(
    work: (manager: EntityManager) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      const done = await this.exclusively(async (manager) => {
        // Deltas name the ranges that their writer read.
        await manager.query(excludeWriters(this.resource, this.lockTimeout));
        return work(manager);
      });
      this.lockTimeout = LOCK_TIMEOUT.initial;
      return done;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      this.lockTimeout = Math.min(2 * this.lockTimeout, LOCK_TIMEOUT.maximum);
      return undefined;
    }
  }

  /** Runs a transaction with the advisory lock of the resource; `undefined` if another holds it. */
  private exclusively<T>(work: (manager: EntityManager) => Promise<T>): Promise<T | undefined> {
    return this.dataSource.transaction('READ COMMITTED', async (manager) => {
      const [{ free }] = await manager.query<[{ free: boolean }]>(
        'SELECT pg_try_advisory_xact_lock(hashtext($1)) AS free',
        [tallyLock(this.resource)],
      );
      if (!free) return undefined;
      const result = await work(manager);
      await manager.query(REPORT_WRITES);
      return result;
    });
  }
}

/** The name of the advisory lock under which the tally of a resource is maintained. */
export function tallyLock(resource: string): string {
  return `tally ${resource}`;
}

/**
 * Statements that let earlier writers of a resource end, and keep new ones out until the open transaction ends. A writer
 * with an older snapshot, which would not see what the transaction changes, is refused when it writes.
 *
 * @param timeout milliseconds to wait for earlier writers; see `isLockTimeout`
 */
export function excludeWriters(resource: string, timeout: number): string {
  // The trigger of a writer with an older snapshot locks the row of tallies, and fails since it has changed.
  return `SET LOCAL lock_timeout = ${timeout};
    LOCK TABLE "${resource}" IN SHARE MODE;
    UPDATE tallies SET cuts = cuts + 1 WHERE resource = '${resource}'`;
}
