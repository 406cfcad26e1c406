import { JsonError, readObject } from '../resource/json-text.js';
import { TextError } from './invalid-rows.js';
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

/** Reads a list of objects in JSON, without holding it whole. */
export class ArrayReader {
  line = 1;
  column = undefined;
  rows = new JsonRows();
  /** @type {'before' | 'within' | 'behind'} */
  state = 'before';
  /** How many objects and lists of the element are open. */
  depth = 0;
  isInString = false;
  isEscaped = false;
  isFirst = true;
  /** What there is of the element. */
  element = '';
  /** The line of its first character. */
  begin = 1;

  /** The objects that end in a part of the text. @param {string} chunk */
  read(chunk) {
    /** @type {import('./file-rows.js').FileRow[]} */
    const found = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const char = chunk.charAt(at);
      if (char === '\n' || (char === '\r' && chunk.charAt(at + 1) !== '\n')) this.line += 1;
      if (this.isInString) {
        if (this.isEscaped) this.isEscaped = false;
        else if (char === '\\') this.isEscaped = true;
        else if (char === '"') this.isInString = false;
        continue;
      }
      if (isSpace(char)) continue;
      if (this.state === 'before') {
        if (char !== '[') throw new TextError('is not a list in JSON');
        this.state = 'within';
        from = at + 1;
        continue;
      }
      if (this.state === 'behind') throw new TextError('follows the end of the list');
      if (this.depth === 0 && (char === ',' || char === ']')) {
        const json = (this.element + chunk.slice(from, at)).trim();
        const isEmptyList = char === ']' && this.isFirst && json === '';
        if (json === '' && !isEmptyList) throw new TextError('lacks an object');
        if (json !== '') found.push(this.rows.row(this.begin, json));
        this.isFirst = false;
        this.element = '';
        from = at + 1;
        if (char === ']') this.state = 'behind';
        continue;
      }
      if (this.depth === 0 && (this.element + chunk.slice(from, at)).trim() === '') {
        this.begin = this.line;
      }
      if (char === '"') this.isInString = true;
      else if (char === '{' || char === '[') this.depth += 1;
      else if (char === '}' || char === ']') this.depth -= 1;
    }
    if (this.state === 'within') this.element += chunk.slice(from);
    if (this.element.length > MAX_ROW_LENGTH) {
      this.line = this.begin;
      throw new TextError(`is longer than ${MAX_ROW_LENGTH} characters`);
    }
    return found;
  }

  end() {
    if (this.state !== 'behind') throw new TextError('ends within the list');
    return [];
  }
}

/** @type {(char: string) => boolean} */
function isSpace(char) {
  return char === ' ' || char === '\n' || char === '\r' || char === '\t';
}

/** Maximum number of cached column lists. */
export const MAX_CACHED_COLUMNS = 10_000;

/** Makes rows of objects in JSON. */
class JsonRows {
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
