import { parse } from 'csv-parse';
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { isFieldName } from './fields.js';
import { camelOf } from './names.js';
import { GeneratorError } from './generator-error.js';

/**
 * @typedef {import('./names.js').Names} Names
 */

/** Rows that are looked at. */
const MOST_ROWS = 100_000;
/** What tells rows apart, if there are several columns that do: the first of these is taken. */
const IDENTIFIERS = /^(_?id|key|code|sku|slug|uuid|number)$/i;

/**
 * The fields that a file's rows ask for, as they can be said on the command line, and what is to be
 * told of them.
 *
 * @param {string} file CSV or NDJSON, perhaps packed by gzip
 * @param {Names} names
 * @returns {Promise<{ fields: string, lines: string[] }>}
 */
export async function proposal(file, names) {
  /** @type {Map<string, Column>} */
  const columns = new Map();
  let rows = 0;
  for await (const row of rowsOf(file)) {
    for (const [name, value] of row) {
      let column = columns.get(name);
      if (!column) columns.set(name, (column = new Column(name)));
      column.add(value);
    }
    rows += 1;
    if (rows === MOST_ROWS) break;
  }
  if (rows === 0) throw new GeneratorError(`${file} has no row to take an example from`);
  for (const column of columns.values()) column.nullable ||= column.values < rows;
  const identifier = identifierAmong([...columns.values()], names, file);
  const named = nameColumns(columns.values(), identifier);
  const taken = new Set([...named.keys()].map((name) => name.toLowerCase()));
  const fields = [...named]
    .map(([name, column]) =>
      column === identifier ? `${name}:identifier` : column.field(name, taken),
    )
    .filter((field) => field !== undefined);
  const maps = [...named].filter(([name, column]) => name !== column.name);
  return {
    fields: fields.join(','),
    lines: [
      `From ${rows}${rows === MOST_ROWS ? ' rows and more' : ' rows'} of ${file}:`,
      ...fields.map((field) => `  ${field}`),
      'To load them:',
      `  npm run -s catalogue -- import ${names.resource} ${shell(file)}${maps.map(([name, column]) => ` --map ${shell(`${name}=${column.name}`)}`).join('')}`,
    ],
  };
}

/** What is known of a column after some rows. */
class Column {
  values = 0;
  nullable = false;
  longest = 0;
  shortest = Infinity;
  /** Whether it may be an identifier. */
  unique = true;
  /** @type {Set<string>} */
  distinct = new Set();
  /** The types that all its values have. @type {Set<string>} */
  types = new Set(['integer', 'decimal', 'boolean', 'date-time', 'json', 'name', 'text']);

  /** @param {string} name */
  constructor(name) {
    this.name = name;
  }

  /** @param {unknown} value */
  add(value) {
    this.values += 1;
    if (value === null || value === undefined) {
      this.nullable = true;
      return;
    }
    const found = typesOf(value, this.name);
    for (const type of this.types) if (!found.has(type)) this.types.delete(type);
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    const length = Array.from(text).length;
    this.longest = Math.max(this.longest, length);
    this.shortest = Math.min(this.shortest, length);
    if (this.distinct.has(text)) this.unique = false;
    this.distinct.add(text);
  }

  /** Whether each of its values could tell its row from the others. */
  get identifies() {
    return (
      this.unique &&
      !this.nullable &&
      this.types.has('text') &&
      this.shortest > 0 &&
      this.longest <= 100
    );
  }

  /**
   * The column as a field; none for a time that every resource has.
   *
   * @param {string} name
   * @param {ReadonlySet<string>} taken names of all fields, in small letters
   * @returns {string | undefined}
   */
  field(name, taken) {
    const isTime = ['createdAt', 'updatedAt'].includes(name);
    if (isTime) return undefined;
    const nullable = this.nullable ? ':null' : '';
    const isParameter = ['clientID', 'access_token', 'fields', 'limit', 'offset', 'sort'].includes(
      name,
    );
    const hasBounds =
      taken.has(`${name}min`.toLowerCase()) || taken.has(`${name}max`.toLowerCase());
    const filter = isParameter ? '' : ':exact';
    const range = hasBounds ? '' : ':range';
    if (this.values === 0 || this.distinct.size === 0) return `${name}:text${nullable}`;
    if (this.types.has('integer')) return `${name}:integer${nullable}${range}`;
    if (this.types.has('decimal')) return `${name}:decimal${nullable}${range}`;
    if (this.types.has('boolean')) return `${name}:boolean${nullable}${filter}`;
    if (this.types.has('date-time')) return `${name}:date-time${nullable}${range}`;
    if (this.types.has('json')) return `${name}:json${nullable}`;
    if (!this.types.has('text')) {
      throw new GeneratorError(
        `The column ${this.name} holds lists or objects in some rows and not in others`,
      );
    }
    const repeats = this.distinct.size * 3 <= this.values;
    if (this.types.has('name') && repeats && this.distinct.size >= 2 && this.distinct.size <= 12) {
      const several = isParameter ? '' : ':several:counted';
      return `${name}:enum=${[...this.distinct].sort().join('/')}${nullable}${several}`;
    }
    if (this.longest > 10_000) return `${name}:text=1000000${nullable}`;
    // An index holds no long text, and a filter cannot ask for an empty one.
    if (this.longest > 500 || this.shortest === 0) return `${name}:text${nullable}`;
    const isName = /^(name|title|label)$/i.test(name);
    return `${name}:text${nullable}${filter}${isName ? ':sort' : ''}`;
  }
}

/**
 * @param {unknown} value
 * @param {string} column
 */
function typesOf(value, column) {
  // As an import sees it: such a number may have lost digits on its way through JavaScript.
  if (
    typeof value === 'number' &&
    (String(value).includes('e') || String(value).replace(/[^0-9]/g, '').length > 15)
  ) {
    throw new GeneratorError(
      `The column ${column} has the number ${value}: put its digits in quotes`,
    );
  }
  if (typeof value === 'boolean') return new Set(['boolean', 'text']);
  if (typeof value === 'object') return new Set(['json']);
  const text = String(value);
  const types = new Set(['text']);
  if (
    /^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(text) &&
    !/^-0(\.0*)?$/.test(text) &&
    text.length <= 100
  ) {
    types.add('decimal');
    if (
      Number.isInteger(Number(text)) &&
      Number(text) === (Number(text) | 0) &&
      !text.includes('.')
    )
      types.add('integer');
  }
  if (typeof value === 'number') return types;
  if (text === 'true' || text === 'false') types.add('boolean');
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?(Z|[+-]\d{2}:\d{2})$/.test(text))
    types.add('date-time');
  if (/^[A-Z][A-Z0-9_]{0,62}$/.test(text)) types.add('name');
  if (/^\s*[[{]/.test(text) && isJson(text)) types.add('json');
  return types;
}

/** @param {string} text */
function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {readonly Column[]} columns
 * @param {Names} names
 * @param {string} file
 */
function identifierAmong(columns, names, file) {
  const candidates = columns.filter(({ identifies }) => identifies);
  const standard = names.identifier.toLowerCase();
  const found =
    candidates.find(({ name }) => name.replace(/[^A-Za-z0-9]/g, '').toLowerCase() === standard) ??
    candidates.find(({ name }) => IDENTIFIERS.test(name)) ??
    candidates[0];
  if (found) return found;
  throw new GeneratorError(
    `No column of ${file} tells its rows apart, with 1 to 100 characters in each: describe the fields instead`,
  );
}

/**
 * The columns by the name of their field, the identifier first: that of the column where a field
 * can bear it.
 *
 * @param {Iterable<Column>} columns
 * @param {Column} identifier
 * @returns {Map<string, Column>}
 */
function nameColumns(columns, identifier) {
  /** @type {Map<string, Column>} */
  const named = new Map();
  const others = [...columns].filter((column) => column !== identifier);
  for (const column of [identifier, ...others]) {
    const isTime =
      ['createdAt', 'updatedAt'].includes(column.name) && !column.types.has('date-time');
    const base = isFieldName(column.name) && !isTime ? column.name : plain(column.name);
    let name = base;
    const used = new Set([...named.keys()].map((other) => other.toLowerCase()));
    for (let at = 2; used.has(name.toLowerCase()); at += 1) name = `${base}${at}`;
    named.set(name, column);
  }
  return named;
}

/**
 * A name for a column that no field can be called after: `unitPrice` for `Unit price`.
 *
 * @param {string} column
 */
function plain(column) {
  const words = column
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/ß/g, 'ss')
    .replace(/[^A-Za-z0-9]+/g, ' ')
    .trim();
  const name = camelOf(words.charAt(0).toLowerCase() + words.slice(1)).slice(0, 50);
  if (isFieldName(name) && name !== 'createdAt' && name !== 'updatedAt') return name;
  const other = `field${name.charAt(0).toUpperCase()}${name.slice(1)}`.slice(0, 50);
  return other;
}

/** @param {string} text */
function shell(text) {
  return /^[\w./=:@%+-]+$/.test(text) ? text : `'${text.replaceAll(`'`, `'\\''`)}'`;
}

/**
 * The rows of a file as pairs of column and value.
 *
 * @param {string} file
 * @returns {AsyncGenerator<[string, unknown][]>}
 */
async function* rowsOf(file) {
  const bytes = createReadStream(file);
  const text = file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes;
  bytes.on('error', (error) => text.destroy(error));
  try {
    yield* /\.(ndjson|jsonl)(\.gz)?$/.test(file) ? ndjsonRows(file, text) : csvRows(file, text);
  } catch (error) {
    if (error instanceof GeneratorError) throw error;
    throw new GeneratorError(
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    bytes.destroy();
  }
}

/**
 * @param {string} file
 * @param {NodeJS.ReadableStream} text
 * @returns {AsyncGenerator<[string, unknown][]>}
 */
async function* csvRows(file, text) {
  const parser = parse({ bom: true, skip_empty_lines: true, max_record_size: 1_000_000 });
  text.on('error', (error) => parser.destroy(error));
  /** @type {string[] | undefined} */
  let header;
  for await (const record of /** @type {AsyncIterable<string[]>} */ (text.pipe(parser))) {
    if (!header) {
      header = record;
      const twice = header.find((name, at) => header?.indexOf(name) !== at);
      if (twice !== undefined)
        throw new GeneratorError(`${file}: the column ${twice} stands twice in the header`);
      continue;
    }
    yield record.map((cell, at) => [header?.[at] ?? '', cell === '' ? null : cell]);
  }
}

/**
 * @param {string} file
 * @param {NodeJS.ReadableStream} text
 * @returns {AsyncGenerator<[string, unknown][]>}
 */
async function* ndjsonRows(file, text) {
  let at = 0;
  for await (const line of linesOf(text)) {
    at += 1;
    if (line.trim() === '') continue;
    /** @type {unknown} */
    let row;
    try {
      row = JSON.parse(line.replace(/^\uFEFF/, ''));
    } catch {
      throw new GeneratorError(`${file}, line ${at}: this is no JSON`);
    }
    if (typeof row !== 'object' || row === null || Array.isArray(row)) {
      throw new GeneratorError(`${file}, line ${at}: a row must be an object`);
    }
    yield Object.entries(row);
  }
}

/**
 * @param {NodeJS.ReadableStream} text
 * @returns {AsyncGenerator<string>}
 */
async function* linesOf(text) {
  text.setEncoding('utf8');
  let rest = '';
  for await (const chunk of text) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest;
}
