import { JsonError, readObject } from '../resource/json-text.js';

/** Maximum number of cached column lists. */
export const MAX_CACHED_COLUMNS = 10_000;

/** Makes rows of objects in JSON. */
export class JsonRows {
  /** The columns of earlier rows, so that rows with equal columns share one array. @type {Map<string, readonly string[]>} */
  columns = new Map();

  /** @type {(line: number, json: string) => import('./file-rows.js').FileRow} */
  row(line, json) {
    let cells;
    try {
      cells = readObject(json);
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      return { line, columns: [], problem: { line, column: error.key, message: error.message } };
    }
    const names = [...cells.keys()];
    const key = JSON.stringify(names);
    const columns = this.columns.get(key) ?? names;
    if (columns === names && this.columns.size < MAX_CACHED_COLUMNS) this.columns.set(key, columns);
    return { line, columns, cells: [...cells.values()] };
  }
}
