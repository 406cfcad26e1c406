import type { DataSource, EntityManager, EntityMetadata } from 'typeorm';
import { isLockTimeout } from '../../database/database-failure.js';
import { capabilitiesOf } from '../../resource/capabilities.js';
import { nameOf } from '../../resource/resource.js';
import { excludeWriters } from './exclude-writers.js';
import { FOLD_SIZE, foldDeltas, type Tally } from './fold.js';
import { recut } from './recut.js';
import { analyseWritten, REPORT_WRITES } from './statistics.js';
import { nextStretch, uncutFacets } from './stretch.js';
import { type TallyOrder, tallyOrders } from './tally.js';
import { type WordTally, wordTallies } from './word-tally.js';

/** Maximum number of objects that one cut reads, or two ranges if those are more. Writers of the resource wait meanwhile. */
const CUT_SIZE = 100_000;
/**
 * Milliseconds that a cut waits for its lock. Writers that arrive meanwhile wait behind it. The
 * timeout doubles with each failed attempt, up to the maximum.
 */
const LOCK_TIMEOUT = { initial: 50, maximum: 800 };

/** Maximum number of facets that one cut looks at. Most of those of a combination are small. */
const CUT_FACETS = 50;

/** Cuts between two folds. */
const CUTS_PER_FOLD = 10;

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
  private readonly words: readonly WordTally[];
  private readonly resource: string;
  private lockTimeout = LOCK_TIMEOUT.initial;

  constructor(
    private readonly dataSource: DataSource,
    private readonly metadata: EntityMetadata,
  ) {
    this.orders = tallyOrders(metadata).map((order) => ({ ...order, due: undefined }));
    this.words = wordTallies(metadata);
    this.resource = nameOf(metadata);
  }

  /** The number of deltas that wait to be folded, of each table `FOLD_SIZE` at most. */
  async waiting(): Promise<number> {
    const counts = this.tables().map(
      ({ deltas }) => `(SELECT count(*) FROM (SELECT FROM ${deltas} LIMIT ${FOLD_SIZE}) first)`,
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
    // A cut needs a lock that the owner of a table of others would have to grant. Its tally has one range.
    if (!capabilitiesOf(this.metadata).places) return true;
    for (const order of this.orders) {
      if (!(await this.cutDue(order, signal))) return false;
    }
    return true;
  }

  private analyse(): Promise<void> {
    const tables = this.tables().flatMap(({ tally, deltas }) => [tally, deltas]);
    return analyseWritten(this.dataSource, tables);
  }

  private tables(): { readonly tally: string; readonly deltas: string }[] {
    return [...this.orders, ...this.words];
  }

  /** Cuts every range of an order that needs it. Returns false if it did not complete. */
  private async cutDue(order: MaintainedOrder, signal?: AbortSignal): Promise<boolean> {
    // In one query: after a large import there are hundreds of thousands.
    if (order.due?.size !== 0) {
      const among = order.due && [...order.due];
      order.due = new Set(await uncutFacets(this.dataSource, order, among));
    }
    let cuts = 0;
    // Those that a fold adds meanwhile are for the next run, which looks for them in one query.
    const facets = [...order.due];
    for (let [facet] = facets; facet !== undefined; [facet] = facets) {
      // Without the lock, that most runs need not take.
      let done = 1;
      if (await nextStretch(this.dataSource.manager, order, facet)) {
        const cut = signal?.aborted
          ? undefined
          : await this.cut(order, facets.slice(0, CUT_FACETS));
        if (cut === undefined) return false;
        done = cut;
        cuts += 1;
        // The cuts after a large import take a minute. Lists read the deltas meanwhile.
        if (cuts % CUTS_PER_FOLD === 0 && !(await this.fold())) return false;
      }
      for (const each of facets.splice(0, done)) order.due.delete(each);
    }
    return true;
  }

  /** Merges the stamps, and adds the deltas to the tally. Returns false if another instance is running. */
  private async fold(): Promise<boolean> {
    // On its own: each request reads the stamps since the last time, and deltas may take long.
    const hasFolded = await this.exclusively(async (manager) => {
      await manager.query('SELECT fold_versions($1)', [this.resource]);
      return true;
    });
    if (!hasFolded) return false;
    for (;;) {
      const folded = await this.exclusively(async (manager) => {
        const sizes = [0];
        const fold = async (tally: Tally, group?: string): Promise<string[]> => {
          const folded = await foldDeltas(manager, tally, group);
          sizes.push([...folded.values()].reduce((sum, size) => sum + size, 0));
          return [...folded.keys()];
        };
        for (const order of this.orders) {
          const facets = await fold({ ...order, key: `facet, ${order.rangeKey}` }, 'facet');
          for (const facet of facets) order.due?.add(facet);
        }
        for (const tally of this.words) await fold(tally);
        return Math.max(...sizes);
      });
      if (folded === undefined) return false;
      if (folded < FOLD_SIZE) break;
    }
    await this.analyse();
    return true;
  }

  /**
   * Cuts the stretches of facets that need it, up to `CUT_SIZE` objects. Returns how many of the facets, from the first,
   * need no further cut; `undefined` if a lock was not available.
   */
  private async cut(order: TallyOrder, facets: readonly string[]): Promise<number | undefined> {
    try {
      const done = await this.exclusively(async (manager) => {
        // Deltas name the ranges that their writer read.
        await excludeWriters(
          (text, values) => manager.query(text, values),
          this.resource,
          this.lockTimeout,
        );
        let objects = 0;
        for (const [at, facet] of facets.entries()) {
          for (;;) {
            const stretch = await nextStretch(manager, order, facet);
            if (!stretch) break;
            if (objects >= CUT_SIZE) return at;
            objects += await recut(manager, this.metadata, order, stretch, CUT_SIZE - objects);
          }
        }
        return facets.length;
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
        [`tally ${this.resource}`],
      );
      if (!free) return undefined;
      const result = await work(manager);
      await manager.query(REPORT_WRITES);
      return result;
    });
  }
}
