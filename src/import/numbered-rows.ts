import { InvalidRowsError } from './invalid-rows.js';
import type { FileRow } from './file-rows.js';

/**
 * The rows of a file with their numbers, from 1, as one more column.
 *
 * @throws InvalidRowsError if the file has such a column
 */
export async function* numberedRows(
  batches: AsyncIterable<readonly FileRow[]>,
  column: string,
): AsyncGenerator<FileRow[]> {
  /** Rows with equal columns share one array, as they do without numbers. */
  const numbered = new WeakMap<readonly string[], readonly string[]>();
  let number = 0;
  const withNumber = (row: FileRow): FileRow => {
    const { line, columns, cells } = row;
    if (columns.includes(column)) {
      const message = 'stands in the file, which --number would number';
      throw new InvalidRowsError([{ line, column, message }]);
    }
    const all = numbered.get(columns) ?? [column, ...columns];
    numbered.set(columns, all);
    if (!cells && !row.problem) return { ...row, columns: all };
    number += 1;
    return { ...row, columns: all, ...(cells && { cells: [String(number), ...cells] }) };
  };
  for await (const rows of batches) yield rows.map(withNumber);
}
