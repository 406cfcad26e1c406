import type { Client } from 'pg';
import type { EntityMetadata } from 'typeorm';
import type { ReservedConnections } from '../../database/reserved-connections.js';
import { changeRecorded, countInSnapshot, onOneInstance } from './added-counts.js';
import { cellsOf, type Grid, GRID_PARTS } from './grid.js';
import { hasLargeRange } from './stretch.js';
import { identifierOrder, sortedOrder, type TallyOrder, tallyRows } from './tally.js';

/** Minimum number of objects with a value of which there are cells. Fewer are skipped in a few milliseconds. */
const MINIMUM = 50_000;
/**
 * How many of the parts that would be chosen now one part may contain, and by what factor there may be more or fewer
 * parts than would be chosen.
 */
const TOLERATED = { within: 8, growth: 1.5, decline: 4 };

/**
 * Chooses the bounds of the cells of a grid, and counts the objects in them. Several instances may run at a time; an
 * advisory lock admits one of them.
 */
export class GridBounds {
  /** The orders of the tally whose ranges tell which bounds suit the objects. */
  private readonly orders: readonly TallyOrder[];
  /**
   * A query of the bounds that suit the objects: `values` and `identifiers`. A value that many objects have is
   * repeated. It reads only the tallies.
   */
  private readonly suitable: string;

  /** @param minimum number of objects with a value of which there are cells */
  constructor(
    private readonly connections: ReservedConnections,
    private readonly metadata: EntityMetadata,
    private readonly grid: Grid,
    private readonly minimum = MINIMUM,
  ) {
    const [identifiers, values] = [identifierOrder(metadata), sortedOrder(metadata, grid.column)];
    this.orders = [identifiers, values];
    // Lock order: that of TRUNCATE.
    this.suitable = `SELECT
      ${quantiles(identifiers, 'lowest', GRID_PARTS.identifiers)} AS identifiers,
      ${quantiles(values, 'value', GRID_PARTS.values)} AS values`;
  }

  /**
   * Chooses bounds if there are none, or if others suit the objects better, and counts by those that are not counted.
   *
   * @param signal cancels it
   * @returns false if it did not complete: the ranges of the tallies are yet to be cut, another instance was running, a
   * lock timed out, or `signal` was aborted
   */
  async run(signal?: AbortSignal): Promise<boolean> {
    const dataSource = await this.connections.connected();
    await dataSource.query(this.removal());
    const [due] = await dataSource.query<Due[]>(...this.due());
    if (!due || (!due.choice && !due.count)) return true;
    // Ranges that are yet to be divided tell little of where the objects are.
    if (due.choice && !due.possible) return false;
    const lock = `grid of ${this.metadata.tableName} by ${this.grid.column.databaseName}`;
    return onOneInstance(this.connections, lock, (client) => this.apply(client), signal);
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
  private choose(client: Client): Promise<boolean> {
    const { bounds } = this.grid;
    return changeRecorded(client, this.metadata.tableName, async () => {
      await client.query(`DELETE FROM ${bounds}`);
      await client.query(
        `INSERT INTO ${bounds} (value_bounds, identifier_bounds, is_counted)
         SELECT ${distinct('"values"')}, ${distinct('identifiers')}, false FROM (${this.suitable}) suitable`,
      );
    });
  }

  /** Counts the objects in each cell, while writers go on. Takes off what was recorded by the snapshot of the count. */
  private count(client: Client): Promise<void> {
    const { tally, deltas, bounds } = this.grid;
    return countInSnapshot(client, this.metadata.tableName, async () => {
      await client.query(
        `INSERT INTO ${deltas} (value_cell, identifier_cell, count)
         SELECT value_cell, identifier_cell, sum(count) FROM (
           SELECT * FROM (${cellsOf(this.metadata, this.grid, false)}) there
           UNION ALL SELECT value_cell, identifier_cell, -count FROM ${tally}
           UNION ALL SELECT value_cell, identifier_cell, -count FROM ${deltas}
         ) every GROUP BY value_cell, identifier_cell HAVING sum(count) <> 0`,
      );
      await client.query(`UPDATE ${bounds} SET is_counted = true`);
    });
  }

  /** A statement that removes cells without objects, as former bounds leave them. A fold may hold some. */
  private removal(): string {
    const { tally } = this.grid;
    return `DELETE FROM ${tally} WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM ${tally} WHERE count = 0 FOR UPDATE SKIP LOCKED
    ))`;
  }

  /** A query of what is due, and its parameter values. */
  private due(): [text: string, values: unknown[]] {
    const every = tallyRows(sortedOrder(this.metadata, this.grid.column), `WHERE facet = ''`);
    const count = (suitable: string): string => `cardinality(${distinct(suitable)})`;
    // A bound that is there cannot divide a part further. So bounds are not chosen again and again for one value.
    const suitsBetter = (suitable: string, present: string): string =>
      `${count(suitable)} > ${TOLERATED.growth} * cardinality(${present})
       OR ${TOLERATED.decline} * ${count(suitable)} < cardinality(${present})
       OR EXISTS (
         SELECT FROM unnest(${suitable}) bound WHERE bound <> ALL(${present})
         GROUP BY width_bucket(bound, ${present}) HAVING count(*) > ${TOLERATED.within}
       )`;
    return [
      `SELECT least(cardinality(identifiers), cardinality("values")) > 0 AND (
           is_counted IS NULL OR ${suitsBetter('"values"', 'value_bounds')}
           OR ${suitsBetter('identifiers', 'identifier_bounds')}
         ) AS choice, is_counted IS FALSE AS count,
         NOT (${this.orders.map(hasLargeRange).join(' OR ')}) AS possible
       FROM (${this.suitable}) suitable LEFT JOIN ${this.grid.bounds} ON true
       WHERE (SELECT sum(count) FROM ${every}) >= $1`,
      [this.minimum],
    ];
  }
}

interface Due {
  /** Whether other bounds are due. */
  readonly choice: boolean;
  /** Whether the ranges of the tallies tell which. */
  readonly possible: boolean;
  /** Whether the objects are to be counted by the present ones. */
  readonly count: boolean;
}

/** An SQL expression for the distinct elements of an array, in their order. */
function distinct(array: string): string {
  return `ARRAY(SELECT DISTINCT bound FROM unnest(${array}) bound ORDER BY bound)`;
}

/**
 * An SQL expression for an array of keys that divide the objects into parts of the same size, as far as the ranges of a
 * tally tell. A key that spans several parts is repeated.
 *
 * @param key a column of the tally
 * @param divisor by which the square root of the number of objects is divided
 */
function quantiles(order: TallyOrder, key: string, divisor: number): string {
  const { bounds, boundOrder } = order;
  return `ARRAY(
    SELECT ${key} FROM (
      SELECT ${key}, part, lag(part) OVER (ORDER BY ${boundOrder}) AS previous FROM (
        SELECT ${bounds}, floor(before / total * sqrt(total) / ${divisor}) AS part FROM (
          SELECT ${bounds}, (sum(count) OVER (ORDER BY ${boundOrder}) - count)::float8 AS before,
            nullif(abs(sum(count) OVER ()), 0)::float8 AS total
          FROM (
            SELECT ${bounds}, sum(count) AS count FROM ${tallyRows(order, `WHERE facet = ''`)} GROUP BY ${bounds}
          ) ranges
        ) preceded
      ) numbered
    ) changes WHERE part > previous AND ${key} IS NOT NULL ORDER BY ${key}
  )`;
}
