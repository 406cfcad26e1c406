import {
  CommandError,
  EMPTY_QUOTES,
  formatNamed,
  InvalidRowsError,
  openSource,
  rowsOf as fileRows,
  textOf,
} from '@catalogue/server/generator';
import { GeneratorError } from './generator-error.js';

/** @typedef {AsyncGenerator<{ line: number, cells: [column: string, value: unknown][] }>} Rows */

/**
 * The rows of a file, as an import reads and refuses them.
 *
 * @param {string} file
 * @param {string} [delimiter] of CSV
 * @returns {Rows}
 */
export async function* rowsOf(file, delimiter) {
  try {
    const { stream } = await openSource(file);
    for await (const rows of fileRows(formatNamed(file), textOf(stream), delimiter)) {
      for (const { line, columns, cells, problem } of rows) {
        if (problem) throw new InvalidRowsError([problem]);
        // An export writes an empty text like this. Most files with quotes have them round every cell.
        const values = cells?.map((cell) => (cell === EMPTY_QUOTES ? null : cell));
        if (values) yield { line, cells: columns.map((name, at) => [name, values[at]]) };
      }
    }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const isOfRow = error instanceof InvalidRowsError;
    throw new GeneratorError(isOfRow ? `${file}: ${error.lines().join('; ')}` : error.message);
  }
}
