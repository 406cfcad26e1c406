import type { EntityMetadata } from 'typeorm';
import type { ParameterValues } from '../../database/statement.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { columnOf, identifierOf } from '../../resource/resource.js';
import { type Facet, facetNames } from './facet.js';
import { type TallyOrder, tallyRows } from './tally.js';

/** Objects whose ranges the tally knows: those of facets, in one order. */
export interface TalliedObjects {
  readonly metadata: EntityMetadata;
  readonly order: TallyOrder;
  /** Facets of the same columns. No two have an object in common. */
  readonly facets: readonly Facet[];
}

/**
 * SQL that finds places among tallied objects. It reads the ranges of the facets from the tally, and of
 * the objects only those in the ranges that contain a place, from an index. It refers to its own
 * tables, and to `object`, the table of the resource.
 */
export class TallyPositions {
  /** Common table expressions. Later ones refer to earlier ones. */
  readonly tables: string[];
  /** The number of objects in all ranges. */
  readonly total = '(SELECT coalesce(sum(count), 0) FROM ranges)';
  private readonly identifier: string;
  /** The column of the order; `undefined` in the order by identifier. */
  private readonly sorted: string | undefined;
  private readonly isOne: boolean;
  /** The facets as a table in FROM. */
  private readonly facets: string;
  /** The conditions that an object belongs to the row `facet` of `facets`. */
  private readonly ofFacet: readonly string[];
  /** The conditions that an object belongs to one of the facets. */
  private readonly ofFacets: readonly string[];

  constructor({ metadata, order, facets }: TalliedObjects, values: ParameterValues) {
    this.identifier = `object."${identifierOf(metadata).databaseName}"`;
    this.sorted = order.column && `object."${order.column.databaseName}"`;
    this.isOne = facets.length === 1;
    const columns = (facets[0]?.columns ?? []).map((name, at) => {
      const column = columnOf(metadata, name);
      const valuesAt = facets.map((each) => each.values[at]);
      // Of several facets, it depends on the values whether an index by the column is worth it.
      const parameter = this.isOne
        ? values.addTyped(valuesAt, 'text[]')
        : `${values.add(valuesAt)}::text[]`;
      // As an expression, so that no index of the column qualifies: the one in the order is to be read.
      const [reference, type] = this.sorted
        ? [`(object."${column.databaseName}"::text || '')`, 'text']
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
        ? `${reference} = (SELECT (${parameter})[1]::${type})`
        : `${reference} = ANY(${parameter}::${type}[])`,
    );
    this.tables = [
      `ranges AS MATERIALIZED (
        SELECT facet, ${this.sorted ? 'value' : 'NULL::text AS value'}, lowest, sum(count) AS count
        FROM ${tallyRows(order, `WHERE facet = ANY(${names})`)} GROUP BY facet, ${order.rangeKey}
      )`,
      // How many objects are in the ranges that begin before each bound.
      `bounds AS MATERIALIZED (
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
    const { identifier, sorted } = this;
    const [key, order] = sorted
      ? [`${sorted} AS value, ${identifier} AS id`, `${sorted}, ${identifier}`]
      : [`${identifier} AS id`, identifier];
    const from = (condition: string): string =>
      `(SELECT ${key} FROM object WHERE ${[condition, ...this.ofFacets].join(' AND ')}
        ORDER BY ${order} LIMIT 1 OFFSET (SELECT skipped FROM ${name}_range))`;
    const range = (of: string): string => `(SELECT ${of} FROM ${name}_range)`;
    // Only one of the two parts returns rows: the first range has no value, and a comparison with null is null.
    const found = sorted
      ? `${from(`${range('value IS NULL')} AND ${sorted} IS NOT NULL`)}
         UNION ALL ${from(`(${order}) >= (${range('value')}, ${range('lowest')})`)}`
      : from(`${identifier} >= ${range('lowest')}`);
    this.tables.push(
      `${name}_rank AS MATERIALIZED (SELECT ${rank} AS rank)`,
      `${name}_range AS MATERIALIZED (
        SELECT value, lowest, rank - before${this.isOne ? '' : ` + ${this.straddling()}`} AS skipped
        FROM ${name}_rank CROSS JOIN LATERAL (
          SELECT * FROM bounds WHERE before <= rank AND rank < ${this.total}
          ORDER BY value DESC NULLS LAST, lowest DESC LIMIT 1
        ) place
      )`,
      `${name} AS MATERIALIZED (${found})`,
    );
  }

  /**
   * An SQL expression for whether one range of each facet spans more objects of the resource than the facets
   * have: then it costs less to count their objects one by one. Null if no facet has objects.
   *
   * @param every an SQL expression for the number of objects of the resource
   */
  spansMore(every: string): string {
    return `(SELECT sum(count) < sum(${every} / ranges) FROM (
      SELECT sum(count) AS count, count(*) AS ranges FROM ranges GROUP BY facet
    ) facets)`;
  }

  /**
   * An SQL expression for the number of objects whose value in the sorted column is less than a value.
   *
   * @param value an SQL expression
   * @param inclusive whether objects with the value itself count, too
   */
  below(value: string, inclusive: boolean): string {
    const { sorted = '', identifier } = this;
    const operator = inclusive ? '<=' : '<';
    const upto = [`${sorted} ${operator} ${value}`, ...this.ofFacet].join(' AND ');
    return `(SELECT coalesce(sum(whole.count + CASE
        WHEN start.lowest IS NULL THEN (SELECT count(*) FROM object WHERE ${upto})
        ELSE (SELECT count(*) FROM object
          WHERE (${sorted}, ${identifier}) >= (start.value, start.lowest) AND ${upto})
      END), 0)
      FROM ${this.facets}
      LEFT JOIN LATERAL (
        SELECT value, lowest FROM ranges WHERE ranges.facet = facet.name AND ranges.value ${operator} ${value}
        ORDER BY value DESC, lowest DESC LIMIT 1
      ) start ON true
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(count), 0) AS count FROM ranges WHERE ranges.facet = facet.name
        AND (ranges.value IS NULL AND start.lowest IS NOT NULL
          OR (ranges.value, ranges.lowest) < (start.value, start.lowest))
      ) whole)`;
  }

  /**
   * The number of objects that lie behind `place` in ranges that begin before it. A range of another
   * facet may contain the place.
   */
  private straddling(): string {
    const { sorted, identifier } = this;
    const key = sorted ? `(${sorted}, ${identifier})` : identifier;
    const bound = (name: string): string =>
      sorted ? `(${name}.value, ${name}.lowest)` : `${name}.lowest`;
    const members = this.ofFacet.map((condition) => ` AND ${condition}`);
    const before = `(SELECT count(*) FROM object WHERE ${key} < ${bound('place')}${members.join('')}`;
    const within = `${before} AND ${key} >= ${bound('last')})`;
    return `(SELECT coalesce(sum(last.count - ${
      sorted ? `CASE WHEN last.value IS NULL THEN ${before}) ELSE ${within} END` : within
    }), 0)
      FROM ${this.facets} CROSS JOIN LATERAL (
        SELECT * FROM ranges WHERE ranges.facet = facet.name
        AND ${sorted ? '(ranges.value IS NULL AND place.value IS NOT NULL OR ' : '('}${bound('ranges')} < ${bound('place')})
        ORDER BY value DESC NULLS LAST, lowest DESC LIMIT 1
      ) last)`;
  }
}
