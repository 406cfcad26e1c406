import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { ParameterValues } from '../database/statement.js';
import type { CellTally, Tally, TallyOrder, WordTally } from './described-tally.js';
import { type Facet, facetBounds, facetNames } from './facet.js';

/** A subquery of every row of a tally and its deltas. */
export function tallyRows({ tally, deltas }: Tally, where = ''): string {
  return `(SELECT * FROM ${tally} ${where} UNION ALL SELECT * FROM ${deltas} ${where}) every`;
}

/**
 * An SQL expression for the number of objects of facets, as a number.
 *
 * @param parameter the SQL parameter that holds the names of the facets
 */
export function countOf(order: TallyOrder, parameter: string): string {
  return countWhere(order, `facet = ANY(${parameter})`);
}

/** An SQL expression for the number of objects with a value in a column: those of the facets of every value. */
export function countOfColumn(
  order: TallyOrder,
  column: ColumnMetadata,
  values: ParameterValues,
): string {
  const [first, end] = facetBounds([column]).map((bound) => values.add(bound));
  return countWhere(order, `facet >= ${first} AND facet < ${end}`);
}

/** An SQL expression for the number of objects in the rows of a tally that meet a condition. */
export function countWhere({ tally, deltas }: Tally, condition: string): string {
  const [tallied, since] = [tally, deltas].map(
    (table) => `(SELECT coalesce(sum(count), 0) FROM ${table} WHERE ${condition})`,
  );
  return `(${tallied} + ${since})`;
}

/**
 * An SQL expression for the number of objects of facets that contain the words of a text. It is null
 * unless that is one word, and a counted one.
 *
 * @param inTitle whether their titles contain it
 */
export function wordCountOf(
  wordTally: WordTally,
  text: string,
  inTitle: boolean,
  facets: readonly Facet[],
  values: ParameterValues,
): string {
  const names = facetNames(facets, values);
  const count = countWhere(wordTally, `word = counted.word AND facet = ANY(${names})`);
  return `(SELECT ${count} FROM (${countedWord(wordTally, text, inTitle, values)}) counted)`;
}

/** A query of the `word` of a text. It is empty unless that is one word, and a counted one. */
export function countedWord(
  { words }: WordTally,
  text: string,
  inTitle: boolean,
  values: ParameterValues,
): string {
  return `SELECT word FROM ${words} counted
    WHERE is_counted AND (SELECT search_lexemes(${values.add(text)}, ${inTitle})) = ARRAY[counted.word]`;
}

/**
 * A query for the text of another one, as `recount`. That one counts the objects of an order: the columns `key`, and the
 * number of objects.
 *
 * @param isCounted whether it counts the counted words, or those that are not counted yet
 * @param which a condition on the objects, as SQL
 */
export function recountOf(
  { tally }: Tally,
  isCounted = true,
  which = 'true',
): [text: string, values: unknown[]] {
  return [
    `SELECT tally_recount(orders, $2, $3) AS recount FROM tally_orders orders WHERE format('"%s"', tally) = $1`,
    [tally, isCounted, which],
  ];
}

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
