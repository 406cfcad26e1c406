import { TextError } from './invalid-rows.js';
import { JsonRows } from './json-rows.js';
import { LINE_ENDS, MAX_ROW_LENGTH } from './source.js';

/** Reads objects in JSON, one a line. */
export class NdjsonReader {
  line = 1;
  column = undefined;
  rows = new JsonRows();
  /** The beginning of a line whose end was not read. */
  rest = '';

  /** The objects of the lines that end in a part of the text. @param {string} chunk */
  read(chunk) {
    const [first = '', ...others] = chunk.split(LINE_ENDS);
    const lines = [this.rest + first, ...others];
    this.rest = lines.pop() ?? '';
    const rows = lines.flatMap((json) => this.row(json, 1));
    if (this.rest.length > MAX_ROW_LENGTH) this.row(this.rest, 0);
    return rows;
  }

  end() {
    return this.row(this.rest, 0);
  }

  /** The object of a line, unless it is empty. @type {(json: string, lines: number) => import('./file-rows.js').FileRow[]} */
  row(json, lines) {
    if (json.length > MAX_ROW_LENGTH) {
      throw new TextError(`is longer than ${MAX_ROW_LENGTH} characters`);
    }
    const { line } = this;
    this.line += lines;
    return json.trim() === '' ? [] : [this.rows.row(line, json)];
  }
}
