import { TextError } from './invalid-rows.js';
import { LINE_ENDS, MAX_ROW_LENGTH } from './source.js';

/** @typedef {import('./file-rows.js').FileRow} FileRow */

/** A CSV cell of two quotes. It is the empty text where the column can hold that, and else null. */
export const EMPTY_QUOTES = Symbol('""');

/** @typedef {string | typeof EMPTY_QUOTES | null} Cell a text, or null for nothing */

const [QUOTE, CR, LF] = [34, 13, 10];

/** What separates columns in files from elsewhere, in place of a comma. */
const SEPARATORS = [';', '\t', '|'];

/** Reads CSV with a header, RFC 4180. Outside of quotes, each end of line ends a row. */
export class CsvReader {
  /** The line on which the row that is read begins. */
  line = 1;
  /** @type {string[] | undefined} */
  header;
  /** What was not read yet, from the beginning of a row. */
  text = '';
  /** Where in it the next character is. */
  at = 0;
  /** Whether no more text follows. */
  isLast = false;
  /** Whether the text ends within quotes. */
  isOpen = false;
  /** The cells of the row that were read. @type {Cell[]} */
  cells = [];

  /** @param {string} [delimiter] `,` by default, which a header may show to be wrong */
  constructor(delimiter) {
    this.delimiter = (delimiter ?? ',').charCodeAt(0);
    this.isGiven = delimiter !== undefined;
  }

  /** The column that is read. */
  get column() {
    return this.header?.[this.cells.length];
  }

  /** The rows that end in a part of the text. @param {string} chunk @returns {FileRow[]} */
  read(chunk) {
    this.text = this.text.slice(this.at) + chunk;
    this.at = 0;
    /** @type {FileRow[]} */
    const rows = [];
    // A cell of many chunks is not searched again for each.
    if (this.isOpen && chunk !== '' && !chunk.includes('"') && this.text.length <= MAX_ROW_LENGTH) {
      return rows;
    }
    while (this.at < this.text.length) {
      const begin = this.at;
      const isWhole = this.readCells();
      if (this.at - begin > MAX_ROW_LENGTH) {
        const message = `is longer than ${MAX_ROW_LENGTH} characters; is a quote not closed?`;
        throw new TextError(message);
      }
      if (!isWhole) {
        this.at = begin;
        break;
      }
      const { cells } = this;
      this.cells = [];
      // An empty line is no row.
      if (cells.length > 1 || cells[0] !== null) rows.push(this.row(cells));
      this.line += this.text.slice(begin, this.at).split(LINE_ENDS).length - 1;
    }
    return rows;
  }

  /** The rows at the end of the text. */
  end() {
    this.isLast = true;
    const rows = this.read('');
    if (!this.header) throw new TextError('there is no header');
    return rows;
  }

  /** @type {(cells: Cell[]) => FileRow} */
  row(cells) {
    const { line, header } = this;
    if (!header) {
      const columns = cells.map((cell) => (typeof cell === 'string' ? cell : ''));
      this.checkHeader(columns);
      this.header = columns;
      return { line, columns };
    }
    if (cells.length === header.length) return { line, columns: header, cells };
    const message = `has ${cells.length} cells, but the header has ${header.length}`;
    return { line, columns: header, problem: { line, message } };
  }

  /** @type {(names: string[]) => void} */
  checkHeader(names) {
    const text = names.join('');
    const other = SEPARATORS.find((each) => text.split(each).length > names.length);
    if (other !== undefined && !this.isGiven) {
      const option = other === '\t' ? 'tab' : `'${other}'`;
      const columns = names.length === 1 ? 'one column' : `${names.length} columns`;
      throw new TextError(
        `the header has ${columns}: if ${JSON.stringify(other)} separates them, give --delimiter ${option}`,
      );
    }
    const repeated = names.find((name, at) => names.indexOf(name) !== at);
    if (repeated !== undefined) throw new TextError('stands twice in the header', repeated);
  }

  /** Reads cells up to the end of a row. @returns {boolean} whether all of it is there */
  readCells() {
    const { text } = this;
    this.cells = [];
    for (;;) {
      const cell = text.charCodeAt(this.at) === QUOTE ? this.quotedCell() : this.plainCell();
      if (this.at === text.length && !this.isLast) return false;
      this.cells.push(cell);
      const end = text.charCodeAt(this.at);
      this.at += end === CR && text.charCodeAt(this.at + 1) === LF ? 2 : 1;
      if (end !== this.delimiter) return true;
    }
  }

  plainCell() {
    const { text, at: begin } = this;
    let at = begin;
    while (at < text.length && !this.isEnd(text.charCodeAt(at))) {
      if (text.charCodeAt(at) === QUOTE) {
        throw new TextError('has a quote within: put the cell in quotes, and write that one twice');
      }
      at += 1;
    }
    this.at = at;
    return at === begin ? null : text.slice(begin, at);
  }

  quotedCell() {
    const { text, at } = this;
    let end = text.indexOf('"', at + 1);
    while (end >= 0 && text.charCodeAt(end + 1) === QUOTE) end = text.indexOf('"', end + 2);
    this.isOpen = end < 0;
    this.at = end < 0 ? text.length : end + 1;
    if (end < 0 && this.isLast) throw new TextError('begins with a quote that is not closed');
    if (this.at < text.length && !this.isEnd(text.charCodeAt(this.at))) {
      const next = JSON.stringify(text.charAt(this.at));
      throw new TextError(
        `has ${next} behind the closing quote: a quote within the cell stands twice`,
      );
    }
    const cell = text.slice(at + 1, end);
    return cell === '' ? EMPTY_QUOTES : cell.replaceAll('""', '"');
  }

  /** Whether a character ends a cell. @param {number} code */
  isEnd(code) {
    return code === this.delimiter || code === LF || code === CR;
  }
}
