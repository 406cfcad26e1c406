import type { Client } from 'pg';
import type { EntityMetadata } from 'typeorm';
import { isLockTimeout } from '../../database/database-failure.js';
import type { ReservedConnections } from '../../database/reserved-connections.js';
import { excludeWriters } from './exclude-writers.js';
import { cellsOf, type Grid } from './grid.js';
import { identifierOrder, sortedOrder, type TallyOrder, tallyRows } from './tally.js';

/** Minimum number of objects with a value of which there are cells. Fewer are skipped in a few milliseconds. */
const MINIMUM = 50_000;
/**
 * By what the square root of the number of objects is divided to give that of the parts in each order. A list reads
 * the cells, the objects of a part of the values at each bound, and those of a part of the identifiers. With
 * 1,000,000 objects these are some 8,000, 4,000 and 8,000 on average.
 */
const PARTS = { values: 4, identifiers: 16 };
/** How many parts of the present objects one part may contain, and how many more parts there may be. */
const TOLERATED = { within: 8, growth: 1.5 };
/** Milliseconds to wait for the lock of the resource. Writers that arrive meanwhile wait behind it. */
const LOCK_TIMEOUT = 800;

/**
 * Chooses the bounds of the cells of a grid, and counts the objects in them. Several instances may run at a time; an
 * advisory lock admits one of them.
 */
export class GridBounds {
  /** A query of the bounds that suit the objects: `values` and `identifiers`. It reads only the tallies. */
  private readonly suitable: string;

  /** @param minimum number of objects with a value of which there are cells */
  constructor(
    private readonly connections: ReservedConnections,
    private readonly metadata: EntityMetadata,
    private readonly grid: Grid,
    private readonly minimum = MINIMUM,
  ) {
    const byValue = sortedOrder(metadata, grid.column);
    // Lock order: that of TRUNCATE.
    this.suitable = `SELECT
      ${quantiles(identifierOrder(metadata), 'lowest', PARTS.identifiers)} AS identifiers,
      ${quantiles(byValue, 'value', PARTS.values)} AS values`;
  }

  /**
   * Chooses bounds if there are none, or if others suit the objects better, and counts by those that are not counted.
   *
   * @param signal cancels it
   * @returns false if it did not complete: another instance was running, a lock timed out, or `signal`
   * was aborted
   */
  async run(signal?: AbortSignal): Promise<boolean> {
    const dataSource = await this.connections.connected();
    const [due] = await dataSource.query<Due[]>(...this.due());
    if (!due || (!due.choice && !due.count)) return true;
    return this.connections.withoutTimeLimit(async (client) => {
      const { rows } = await client.query<{ free: boolean }>(
        'SELECT pg_try_advisory_lock(hashtext($1)) AS free',
        [`grid of ${this.metadata.tableName} by ${this.grid.column.databaseName}`],
      );
      return rows[0]?.free === true && this.apply(client);
    }, signal);
  }

  /** The caller holds the advisory lock. */
  private async apply(client: Client): Promise<boolean> {
    const { rows } = await client.query<Due>(...this.due());
    if (rows[0]?.choice && !(await this.choose(client))) return false;
    if (rows[0]?.choice || rows[0]?.count) await this.count(client);
    return true;
  }

  /**
   * Makes every later writer record cells of other bounds. What was recorded by the former ones stays: the count
   * takes it off. Returns false if the lock timed out.
   */
  private async choose(client: Client): Promise<boolean> {
    const { bounds } = this.grid;
    try {
      await client.query('BEGIN');
      // Writers that see other bounds must have ended before the objects are counted.
      await excludeWriters(
        (text, values) => client.query(text, values),
        this.metadata.tableName,
        LOCK_TIMEOUT,
      );
      await client.query(`DELETE FROM ${bounds}`);
      await client.query(
        `INSERT INTO ${bounds} (value_bounds, identifier_bounds, is_counted)
         SELECT "values", identifiers, false FROM (${this.suitable}) suitable`,
      );
      await client.query('COMMIT');
      return true;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      return false;
    }
  }

  /** Counts the objects in each cell, while writers go on. Takes off what was recorded by the snapshot of the count. */
  private async count(client: Client): Promise<void> {
    const { tally, deltas, bounds } = this.grid;
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    // Lock order: table before tally, as TRUNCATE takes them; otherwise they deadlock.
    await client.query(`LOCK TABLE "${this.metadata.tableName}" IN ACCESS SHARE MODE`);
    await client.query(
      `INSERT INTO ${deltas} (value_cell, identifier_cell, count)
       SELECT value_cell, identifier_cell, sum(count) FROM (
         SELECT * FROM (${cellsOf(this.metadata, this.grid, 'true')}) there
         UNION ALL SELECT value_cell, identifier_cell, -count FROM ${tally}
         UNION ALL SELECT value_cell, identifier_cell, -count FROM ${deltas}
       ) every GROUP BY value_cell, identifier_cell HAVING sum(count) <> 0`,
    );
    await client.query(`UPDATE ${bounds} SET is_counted = true`);
    await client.query('COMMIT');
  }

  /** A query of what is due, and its parameter values. */
  private due(): [text: string, values: unknown[]] {
    const every = tallyRows(sortedOrder(this.metadata, this.grid.column), `WHERE facet = ''`);
    const suitsBetter = (suitable: string, present: string): string =>
      `cardinality(${suitable}) > ${TOLERATED.growth} * cardinality(${present})
       OR EXISTS (
         SELECT FROM unnest(${suitable}) bound GROUP BY width_bucket(bound, ${present})
         HAVING count(*) > ${TOLERATED.within}
       )`;
    // After new bounds are chosen, none suit better until the objects change: the same values are always found.
    return [
      `SELECT least(cardinality(identifiers), cardinality("values")) > 0 AND (
           is_counted IS NULL OR ${suitsBetter('"values"', 'value_bounds')}
           OR ${suitsBetter('identifiers', 'identifier_bounds')}
         ) AS choice, is_counted IS FALSE AS count
       FROM (${this.suitable}) suitable LEFT JOIN ${this.grid.bounds} ON true
       WHERE (SELECT sum(count) FROM ${every}) >= $1`,
      [this.minimum],
    ];
  }
}

interface Due {
  /** Whether other bounds are due. */
  readonly choice: boolean;
  /** Whether the objects are to be counted by the present ones. */
  readonly count: boolean;
}

/**
 * An SQL expression for an array of keys that divide the objects into parts of the same size, as far as the ranges of a
 * tally tell. A key with the objects of several parts is one bound, and the next part begins close behind it.
 *
 * @param key a column of the tally
 * @param divisor by which the square root of the number of objects is divided
 */
function quantiles(order: TallyOrder, key: string, divisor: number): string {
  const { bounds, boundOrder } = order;
  return `ARRAY(
    SELECT DISTINCT ${key} FROM (
      SELECT ${key}, part, lag(part) OVER (ORDER BY ${boundOrder}) AS previous FROM (
        SELECT ${bounds}, floor(before / total * sqrt(total) / ${divisor}) AS part FROM (
          SELECT ${bounds}, (sum(count) OVER (ORDER BY ${boundOrder}) - count)::float8 AS before,
            nullif(abs(sum(count) OVER ()), 0)::float8 AS total
          FROM (
            SELECT ${bounds}, sum(count) AS count FROM ${tallyRows(order, `WHERE facet = ''`)} GROUP BY ${bounds}
          ) ranges
        ) placed
      ) divided
    ) divided WHERE part > previous AND ${key} IS NOT NULL ORDER BY ${key}
  )`;
}
