import type { EntityMetadata, EntityManager } from 'typeorm';
import { CommandError } from '../command-error.js';
import { identifierOf } from '../resource/resource.js';
import type { Mapping } from './columns.js';
import type { FileRow } from './file-rows.js';
import { InvalidRowsError } from './invalid-rows.js';

type Rows = AsyncIterable<readonly FileRow[]>;

interface Numbering extends Mapping {
  readonly replace: boolean;
  readonly number?: boolean;
}

/**
 * The rows, with their numbers as identifiers where the option `number` asks for it, and the options with which they
 * are imported.
 *
 * @throws CommandError if the numbers would be those of other objects
 */
export async function numbered<Options extends Numbering>(
  manager: EntityManager,
  metadata: EntityMetadata,
  rows: Rows,
  options: Options,
): Promise<{ rows: Rows; options: Options }> {
  const { map, number, replace } = options;
  if (!number) return { rows, options };
  const { propertyName: identifier } = identifierOf(metadata);
  if (map.has(identifier))
    throw new CommandError(`${identifier} is set by both --number and --map`);
  const [{ exists }] = await manager.query<[{ exists: boolean }]>(
    `SELECT EXISTS (SELECT FROM "${metadata.tableName}")`,
  );
  if (exists && !replace) {
    throw new CommandError(
      `--number would overwrite objects of ${metadata.tableName} with the rows of these numbers: add --replace if the file has all of them`,
    );
  }
  // Another field may have the column of the identifier's name.
  if (![...map.values()].includes(identifier))
    return { rows: numberedRows(rows, identifier), options };
  const column = `${identifier} by --number`;
  return {
    rows: numberedRows(rows, column),
    options: { ...options, map: new Map([...map, [identifier, column]]) },
  };
}

/**
 * The rows of a file with their numbers, from 1, as one more column.
 *
 * @throws InvalidRowsError if the file has such a column
 */
async function* numberedRows(batches: Rows, column: string): AsyncGenerator<FileRow[]> {
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
