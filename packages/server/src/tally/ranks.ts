import type { EntityMetadata } from 'typeorm';
import { anyValue, unindexedText } from '../database/planner.js';
import type { ParameterValues } from '../database/statement.js';
import { sqlTypeOf } from '../resource/column-values.js';
import { identifierOf } from '../resource/resource.js';
import type { CellTally, TallyOrder } from './described-tally.js';
import { type Facet, facetNames, tallyRows } from './facet.js';

/** Objects whose ranges the tally knows: those of facets, in one order. */
export interface TalliedObjects {
  readonly metadata: EntityMetadata;
  readonly order: TallyOrder;
  /** Facets of the same columns. No two have an object in common. */
  readonly facets: readonly Facet[];
}

/**
 * SQL for ranks in the order of tallied objects: the object at a rank, and how many objects are below a value. It reads the
 * ranges of the facets from the tally, and of the objects only those in the ranges that contain such a place, from an index.
 * It refers to its own tables, and to `object`, the table of the resource.
 */
export class TallyRanks {
  /** Common table expressions. Later ones refer to earlier ones. */
  readonly tables: string[];
  /** The number of objects in all ranges. */
  readonly total = '(SELECT coalesce(sum(count), 0) FROM ranges)';
  /** What orders the objects: the sorted column and the identifier, or only that. */
  private readonly key: readonly string[];
  private readonly isSorted: boolean;
  private readonly isOne: boolean;
  /** The facets as a table in FROM. */
  private readonly facets: string;
  /** The conditions that an object belongs to the row `facet` of `facets`. */
  private readonly ofFacet: readonly string[];
  /** The conditions that an object belongs to one of the facets. */
  private readonly ofFacets: readonly string[];

  constructor({ metadata, order, facets }: TalliedObjects, values: ParameterValues) {
    const ordered = [...(order.column ? [order.column] : []), identifierOf(metadata)];
    this.key = ordered.map(({ databaseName }) => `object."${databaseName}"`);
    this.isSorted = order.column !== undefined;
    this.isOne = facets.length === 1;
    const columns = (facets[0]?.columns ?? []).map((column, at) => {
      const valuesAt = facets.map((each) => each.values[at]);
      // Of several facets, it depends on the values whether an index by the column is worth it.
      const parameter = this.isOne
        ? values.addTyped(valuesAt, 'text[]')
        : `${values.add(valuesAt)}::text[]`;
      const [reference, type] = this.isSorted
        ? [unindexedText(`object."${column.databaseName}"`), 'text']
        : [`object."${column.databaseName}"`, sqlTypeOf(column)];
      return { parameter, reference, type, name: `value_${at}` };
    });
    const names = facetNames(facets, values);
    this.facets = `unnest(${[names, ...columns.map(({ parameter }) => parameter)].join(', ')})
      AS facet(${['name', ...columns.map(({ name }) => name)].join(', ')})`;
    this.ofFacet = columns.map(
      ({ reference, type, name }) => `${reference} = facet.${name}::${type}`,
    );
    // The facets combine each value of a column with each of the others. Of one facet, an equality: an index by
    // the column is then in the order of the identifier.
    this.ofFacets = columns.map(({ reference, type, parameter }) =>
      this.isOne
        ? `${reference} = ${anyValue(`(${parameter})[1]::${type}`)}`
        : `${reference} = ANY(${parameter}::${type}[])`,
    );
    this.tables = [
      `ranges AS MATERIALIZED (
        SELECT facet, ${this.isSorted ? 'value' : `'' AS value`}, lowest, sum(count) AS count
        FROM ${tallyRows(order, `WHERE facet = ANY(${names})`)} GROUP BY facet, ${order.rangeKey}
      )`,
      // How many objects are in the ranges that begin before each start of a range.
      `starts AS MATERIALIZED (
        SELECT value, lowest, sum(sum(count)) OVER (ORDER BY ${order.rangeKeyOrder}) - sum(count) AS before
        FROM ranges GROUP BY value, lowest
      )`,
    ];
  }

  /**
   * Adds a table of one row: the object that so many others precede, as `value` and `id`. It is empty
   * if there is none.
   *
   * @param rank an SQL expression
   */
  addPlace(name: string, rank: string): void {
    const order = this.key.join(', ');
    const [column] = this.key;
    const selected = this.key.map(
      (each, at) => `${each} AS ${this.isSorted && at === 0 ? 'value' : 'id'}`,
    );
    const from = (condition: string): string =>
      `(SELECT ${selected.join(', ')} FROM object WHERE ${[condition, ...this.ofFacets].join(' AND ')}
        ORDER BY ${order} LIMIT 1 OFFSET (SELECT skipped FROM ${name}_range))`;
    const range = (of: string): string => `(SELECT ${of} FROM ${name}_range)`;
    const start = this.isSorted ? `${range('value')}, ${range('lowest')}` : range('lowest');
    // Only one of the two parts returns rows: the first range has no value, and a comparison with null is null.
    const found = [
      ...(this.isSorted ? [from(`${range('value IS NULL')} AND ${column} IS NOT NULL`)] : []),
      from(`(${order}) >= (${start})`),
    ];
    const isBefore = (key: readonly string[]): string =>
      `(${key.join(', ')}) < (${this.startOf('place').join(', ')})`;
    // In one facet, no other range contains the start of a range.
    const behind = this.isOne
      ? '0'
      : `CASE WHEN value IS NULL THEN 0 ELSE ${this.behind(isBefore)} END`;
    this.tables.push(
      `${name}_rank AS MATERIALIZED (SELECT ${rank} AS rank)`,
      `${name}_range AS MATERIALIZED (
        SELECT value, lowest, rank - before + ${behind} AS skipped
        FROM ${name}_rank CROSS JOIN LATERAL (
          SELECT * FROM starts WHERE before <= rank AND rank < ${this.total}
          ORDER BY value DESC NULLS LAST, lowest DESC LIMIT 1
        ) place
      )`,
      `${name} AS MATERIALIZED (${found.join(' UNION ALL ')})`,
    );
  }

  /**
   * An SQL expression for the number of objects whose value in the sorted column is less than a value.
   *
   * @param value an SQL expression
   * @param inclusive whether objects with the value itself count, too
   */
  below(value: string, inclusive: boolean): string {
    const isBelow = ([of]: readonly string[]): string => `${of} ${inclusive ? '<=' : '<'} ${value}`;
    return `(SELECT coalesce(sum(count), 0) - ${this.behind(isBelow)}
      FROM ranges WHERE value IS NULL OR ${isBelow(['value'])})`;
  }

  /**
   * The number of objects behind a place in ranges that begin before it: of each facet, the last of these may contain it.
   *
   * @param isBefore the condition that a key is before the place
   */
  private behind(isBefore: (key: readonly string[]) => string): string {
    const before = (...conditions: string[]): string =>
      `(SELECT count(*) FROM object WHERE ${[...conditions, isBefore(this.key), ...this.ofFacet].join(' AND ')})`;
    const isWithin = `(${this.key.join(', ')}) >= (${this.startOf('last').join(', ')})`;
    return `(SELECT coalesce(sum(last.count - CASE WHEN last.value IS NULL THEN ${before()} ELSE ${before(isWithin)} END), 0)
      FROM ${this.facets} CROSS JOIN LATERAL (
        SELECT * FROM ranges WHERE ranges.facet = facet.name
        AND (ranges.value IS NULL OR ${isBefore(this.startOf('ranges'))})
        ORDER BY value DESC NULLS LAST, lowest DESC LIMIT 1
      ) last)`;
  }

  /** The key of the start of a range in a table. The first range of a facet has no value in it. */
  private startOf(table: string): string[] {
    return [...(this.isSorted ? [`${table}.value`] : []), `${table}.lowest`];
  }
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
