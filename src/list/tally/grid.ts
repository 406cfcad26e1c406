import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { columnOf, gridColumnsOf } from '../../resource/resource.js';

/**
 * The numbers of objects by cell: with a value of a sorted column between two bounds, and an identifier between two
 * others. A cell has the numbers `value_cell` and `identifier_cell` that `width_bucket` gives for the bounds. Objects
 * without a value are in none.
 */
export interface Grid {
  /** The sorted column. */
  readonly column: ColumnMetadata;
  /** The tables, quoted. */
  readonly tally: string;
  readonly deltas: string;
  /** The columns that identify a row of the tally. */
  readonly key: string;
  /** The table with the bounds of the cells. It has one row, or none before they are chosen. */
  readonly bounds: string;
}

/**
 * By what the square root of the number of objects is divided to give that of the parts in each order. A list reads
 * the cells, the objects of a part of the values at each bound, and those of a part of the identifiers. With
 * 1,000,000 objects these are some 8,000, 4,000 and 8,000 on average.
 */
export const GRID_PARTS = { values: 4, identifiers: 16 };

/** The grids of a resource. */
export function gridsOf(metadata: EntityMetadata): Grid[] {
  return gridColumnsOf(metadata).map((name) => {
    const column = columnOf(metadata, name);
    const table = `${metadata.tableName}_tally_by_${column.databaseName}_grid`;
    return {
      column,
      tally: `"${table}"`,
      deltas: `"${table}_deltas"`,
      key: 'value_cell, identifier_cell',
      bounds: `"${table}_bounds"`,
    };
  });
}

/**
 * A query of how many objects there are in each cell: `value_cell`, `identifier_cell` and `count`. It is empty if the
 * bounds are not chosen.
 *
 * @param isCounted whether the cells are counted by the bounds, or not yet
 */
export function cellsOf(
  metadata: EntityMetadata,
  { column, bounds }: Grid,
  isCounted: boolean,
): string {
  const [value, identifier] = [column, ...metadata.primaryColumns].map(
    (each) => `object."${each.databaseName}"`,
  );
  // An array of a row may be compressed. It is expanded once, and not for each object.
  return `WITH bounds AS MATERIALIZED (
      SELECT value_bounds || '{}' AS of_values, identifier_bounds || '{}' AS of_identifiers
      FROM ${bounds} WHERE is_counted = ${String(isCounted)}
    )
    SELECT width_bucket(${value}, of_values) AS value_cell,
      width_bucket(${identifier}, of_identifiers) AS identifier_cell, count(*) AS count
    FROM bounds CROSS JOIN "${metadata.tableName}" object WHERE ${value} IS NOT NULL
    GROUP BY 1, 2`;
}
