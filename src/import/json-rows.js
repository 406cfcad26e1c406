/** Maximum number of cached column lists. */
export const MAX_CACHED_COLUMNS = 10_000;

/** Makes rows of objects in JSON. */
export class JsonRows {
  /** The columns of earlier rows, so that rows with equal columns share one array. @type {Map<string, readonly string[]>} */
  columns = new Map();

  /** @type {(line: number, json: string) => import('./file-rows.js').FileRow} */
  row(line, json) {
    const object = parsed(json);
    if (typeof object !== 'object' || !object || Array.isArray(object)) {
      return { line, columns: [], problem: { line, message: 'is not a JSON object' } };
    }
    const names = Object.keys(object);
    const key = JSON.stringify(names);
    const columns = this.columns.get(key) ?? names;
    if (columns === names && this.columns.size < MAX_CACHED_COLUMNS) this.columns.set(key, columns);
    return { line, columns, cells: Object.values(object) };
  }
}

/** What a text in JSON says; `undefined` for any other text. @type {(text: string) => unknown} */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
