import { type CellTally, tallyRows } from './tally.js';

/** A bound of an interval. */
export interface CellBound {
  /** In SQL. */
  readonly value: string;
  readonly inclusive: boolean;
}

/**
 * SQL for the objects of an interval. Those in whole cells are counted by the tally, those in the cells at its ends are read
 * from the index of the column. It refers to its own tables, and to `object`, the table of the resource.
 */
export class Cells {
  /** Common table expressions. Later ones refer to earlier ones. */
  readonly tables: readonly string[];

  /**
   * @param bounds those of the interval; without any, it has all objects with a value
   * @param name what the names of the tables end in
   */
  constructor(
    private readonly order: CellTally,
    private readonly bounds: { readonly lower?: CellBound; readonly upper?: CellBound },
    private readonly name: string,
  ) {
    const { lower, upper } = bounds;
    const every = order.bounds;
    // The lowest value of the first whole cell, and that of the first cell behind the whole ones.
    const limit = (condition: string, direction: string): string =>
      `(SELECT lowest FROM ${every} WHERE lowest ${condition} ORDER BY lowest ${direction} LIMIT 1)`;
    const first = lower ? limit(`${lower.inclusive ? '>=' : '>'} ${lower.value}`, 'ASC') : 'NULL';
    const upto = upper ? limit(`<= ${upper.value}`, 'DESC') : 'NULL';
    const limits = [lower ? 'lowest >= first' : 'true', upper ? 'lowest < upto' : 'true'].join(
      ' AND ',
    );
    // Cell 0 has no lowest value.
    const from0 = lower
      ? ''
      : `UNION ALL SELECT '0' FROM "span${name}" WHERE ${upper ? 'upto IS NOT NULL' : 'true'}`;
    this.tables = [
      `"span${name}" AS MATERIALIZED (SELECT ${first} AS first, ${upto} AS upto)`,
      `"whole${name}" AS MATERIALIZED (
        SELECT cell::text AS word FROM ${every} CROSS JOIN "span${name}" WHERE ${limits} ${from0}
      )`,
    ];
  }

  /**
   * Rows of the tally, in FROM: those of whole cells.
   *
   * @param where a further condition on them
   */
  rows(where: string): string {
    const rows = tallyRows(this.order, `WHERE word = "whole${this.name}".word AND ${where}`);
    return `"whole${this.name}" CROSS JOIN LATERAL ${rows}`;
  }

  /**
   * An SQL expression for the number of objects of facets in whole cells.
   *
   * @param names the parameter with the names of the facets
   */
  countOf(names: string): string {
    return `(SELECT coalesce(sum(count), 0) FROM ${this.rows(`facet = ANY(${names})`)})`;
  }

  /**
   * A query of the objects in no whole cell. It has several parts: PostgreSQL would read the whole interval for an `OR`.
   *
   * @param selected what it selects of `object`
   * @param where the conditions of the list, with those of the interval
   */
  objects(selected: string, where: string): string {
    const column = `object."${this.order.column.databaseName}"`;
    const { lower, upper } = this.bounds;
    const of = (limit: string): string => `(SELECT ${limit} FROM "span${this.name}")`;
    // Both bounds may be in one cell.
    const behind = lower ? 'CASE WHEN first IS NOT NULL THEN greatest(first, upto) END' : 'upto';
    const parts = [
      ...(lower ? [`${column} < ${of('first')}`] : []),
      ...(upper ? [`${column} >= ${of(behind)}`] : []),
      // No cell begins in the interval.
      of(lower ? 'first IS NULL' : upper ? 'upto IS NULL' : 'false'),
    ];
    return parts
      .map((part) => `SELECT ${selected} FROM object ${where} AND ${part}`)
      .join('\nUNION ALL ');
  }
}
