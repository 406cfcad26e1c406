import { parse } from 'csv-parse';
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import {
  COLUMN_TYPES,
  hasItsDigits,
  IDENTIFIER_TYPES,
  identifierColumn,
} from '../../src/resource/column-types.js';
import { isFieldName, LENGTH, PARAMETERS, TIMES } from './fields.js';
import { camelOf, capitalised } from './names.js';
import { GeneratorError } from './generator-error.js';
import { SampledShape } from './shape.js';
import { hasFacets, textUse } from './text-use.js';

/**
 * @typedef {import('./fields.js').Flag} Flag
 * @typedef {import('./fields.js').Type} Type
 * @typedef {import('./names.js').Names} Names
 */

/** Maximum number of rows that are read. */
const MAXIMUM_ROWS = 100_000;
/** Usual names of an identifier, for the choice between columns whose values are unique. */
const IDENTIFIERS = /^(_?id|key|code|sku|slug|uuid|number)$/i;
/** Usual names of a number or UUID that identifies an object of another resource. */
const REFERENCES = /(_id|_ID|[a-z]I[dD])$/;

/**
 * Proposes the fields for a file's rows.
 *
 * @param {string} file CSV, NDJSON or a list in JSON, which may be compressed with gzip
 * @param {Names} names
 * @returns {Promise<{ fields: string, shapes: Map<string, SampledShape>, lines: string[] }>} the fields as the
 * command line takes them, the shapes of those in JSON, and the lines to print
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
    if (rows === MAXIMUM_ROWS) break;
  }
  if (rows === 0) throw new GeneratorError(`${file} has no rows`);
  for (const column of columns.values()) column.nullable = column.values < rows;
  const identifier = identifierAmong([...columns.values()], names, file);
  const named = nameColumns(columns.values(), identifier);
  const taken = new Set([...named.keys()].map((name) => name.toLowerCase()));
  const proposed = [...named]
    .filter(([name, column]) => column === identifier || !TIMES.includes(name))
    .map(([name, column]) => ({
      name,
      ...(column === identifier
        ? { field: `${name}${column.key}:identifier` }
        : column.use(name, taken)),
    }));
  const maps = [...named].filter(([name, column]) => name !== column.name);
  return {
    fields: proposed.map(({ field }) => field).join(','),
    shapes: new Map(proposed.flatMap(({ name, shape }) => (shape ? [[name, shape]] : []))),
    lines: [
      `From ${rows}${rows === MAXIMUM_ROWS ? ' rows and more' : ' rows'} of ${file}:`,
      ...proposed.flatMap(({ field, why, shape }) => [
        `  ${field}${why ? ` (${why})` : ''}`,
        ...(shape ? [`    ${shortened(shape.describe())}`] : []),
      ]),
      'To load them:',
      '  npm run -s catalogue -- migrate',
      `  npm run -s catalogue -- import ${names.resource} ${shell(file)}${maps.map(([name, column]) => ` --map ${shell(`${name}=${column.name}`)}`).join('')}`,
    ],
  };
}

/** @param {string} text */
function shortened(text) {
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}

/**
 * Whether a value can be of a type. A column has the first of the types that all its values can be
 * of, so a type stands before those that also accept its values.
 *
 * @type {Readonly<Record<Type, (value: string | number | boolean | object) => boolean>>}
 */
const ACCEPTS = {
  integer: (value) =>
    isDecimal(value) && Number(value) === (Number(value) | 0) && !/\./.test(String(value)),
  bigint: (value) => isDecimal(value) && !/\./.test(String(value)) && isBigint(String(value)),
  decimal: isDecimal,
  // A number of a file keeps its digits as a decimal.
  double: () => false,
  boolean: (value) => ['true', 'false'].includes(String(value)),
  date: (value) => typeof value === 'string' && isDate(value),
  'date-time': (value) =>
    typeof value === 'string' &&
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?(Z|[+-]\d{2}:\d{2})$/.test(value),
  // Lists of an NDJSON file. A cell of CSV that looks like one comes out as it went in.
  texts: (value) =>
    Array.isArray(value) &&
    value.every(
      (item) =>
        typeof item === 'string' && item !== '' && Array.from(item).length <= LENGTH.indexed,
    ),
  integers: (value) =>
    Array.isArray(value) && value.every((item) => typeof item === 'number' && item === (item | 0)),
  json: (value) =>
    typeof value === 'object' ||
    (typeof value === 'string' && /^\s*[[{]/.test(value) && isJson(value)),
  enum: (value) => typeof value === 'string' && /^[A-Z][A-Z0-9_]{0,62}$/.test(value),
  // In lower case, as PostgreSQL writes them.
  uuid: (value) =>
    typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value),
  // A reference looks like any other text.
  reference: () => false,
  text: (value) => typeof value !== 'object',
};

/** Types of what identifies an object elsewhere, besides text. @type {readonly Type[]} */
const IDENTIFYING = ['integer', 'bigint', 'uuid'];
/** The filters of the types that have none by bounds. @type {Readonly<Partial<Record<Type, string>>>} */
const FILTERS = {
  enum: ':several:counted',
  boolean: ':exact:counted',
  uuid: ':exact',
  texts: ':several',
  integers: ':several',
};

/** What the rows so far show about a column. */
class Column {
  /** How many values are not null. */
  values = 0;
  nullable = false;
  longest = 0;
  shortest = Infinity;
  /** Whether each value occurs once. */
  unique = true;
  /** @type {Set<string>} */
  distinct = new Set();
  /** The types that all its values can be of. */
  types = /** @type {Type[]} */ (Object.keys(ACCEPTS));
  /** What its values in JSON have in common. */
  shape = new SampledShape();

  /** @param {string} name */
  constructor(name) {
    this.name = name;
  }

  /** @param {unknown} value */
  add(value) {
    if (value === null || value === undefined) return;
    this.values += 1;
    // An import refuses it, too.
    if (typeof value === 'number' && !hasItsDigits(value)) {
      throw new GeneratorError(
        `The column ${this.name} has the number ${value}: put its digits in quotes`,
      );
    }
    this.types = this.types.filter((type) => ACCEPTS[type](value));
    if (this.types.includes('json')) {
      this.shape.add(typeof value === 'string' ? JSON.parse(value) : value, this.name);
    }
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    const length = Array.from(text).length;
    this.longest = Math.max(this.longest, length);
    this.shortest = Math.min(this.shortest, length);
    if (this.distinct.has(text)) this.unique = false;
    this.distinct.add(text);
  }

  /** Whether it can be the identifier. */
  get identifies() {
    return (
      this.unique &&
      !this.nullable &&
      this.types.includes('text') &&
      this.shortest > 0 &&
      this.longest <= identifierColumn.length
    );
  }

  /** The type of the column as an identifier, unless it is a text. */
  get key() {
    const type = IDENTIFIER_TYPES.find((each) => each !== 'text' && this.types.includes(each));
    return type === undefined ? '' : `:${type}`;
  }

  /**
   * The column as a field, and why it is used like this where there was a choice.
   *
   * @param {string} name
   * @param {ReadonlySet<string>} taken names of all fields, in lower case
   * @returns {{ field: string, why?: string, shape?: SampledShape }} with the shape of objects in JSON
   */
  use(name, taken) {
    const type = this.types.find((each) => each !== 'enum' || this.isEnumeration);
    if (type === undefined) {
      throw new GeneratorError(
        `The column ${this.name} holds lists or objects in some rows and not in others`,
      );
    }
    const nullable = this.nullable ? ':null' : '';
    if (this.distinct.size === 0) return { field: `${name}:text${nullable}` };
    const isParameter = PARAMETERS.includes(name);
    if (type === 'text') {
      const length = this.longest > LENGTH.default ? '=unlimited' : '';
      const { flags, why } = isParameter
        ? { flags: [], why: 'every list has such a parameter' }
        : this.possibleTextUse(name, taken);
      return { field: [`${name}:text${length}${nullable}`, ...flags].join(':'), why };
    }
    const values = type === 'enum' ? `=${[...this.distinct].sort().join('/')}` : '';
    const field = `${name}:${type}${values}${nullable}`;
    /** @type {readonly Flag[]} */
    const offered = COLUMN_TYPES[type].flags;
    if (!isParameter && IDENTIFYING.includes(type) && REFERENCES.test(name)) {
      const counted = hasFacets(this) ? ':counted' : '';
      return { field: `${field}:several${counted}`, why: 'identifiers of others' };
    }
    if (offered.includes('interval')) {
      const hasBounds = ['min', 'max'].some((bound) => taken.has(name.toLowerCase() + bound));
      return { field: hasBounds ? field : `${field}:interval` };
    }
    if (type === 'json' && this.shape.hasClass) return { field, shape: this.shape };
    return { field: isParameter ? field : field + (FILTERS[type] ?? '') };
  }

  /**
   * What a text is used for as far as the list can.
   *
   * @param {string} name
   * @param {ReadonlySet<string>} taken names of all fields, in lower case
   */
  possibleTextUse(name, taken) {
    const { flags, why } = textUse(name, this);
    // An index holds no longer text, and a filter cannot ask for an empty one.
    const isIndexed = this.longest <= LENGTH.indexed && this.shortest > 0;
    const isSearched = !taken.has('q') && !taken.has('words');
    const possible = flags.filter((flag) => (flag === 'words' ? isSearched : isIndexed));
    const isLess = possible.length < flags.length;
    const lacks = isIndexed ? 'another column is called q or words' : 'some are empty or too long';
    return { flags: possible, why: isLess ? `${why}; ${lacks}` : why };
  }

  /** Whether its values, if they look like those of an enumeration, are few and repeated. */
  get isEnumeration() {
    const { size } = this.distinct;
    return size >= 2 && size <= 12 && size * 3 <= this.values;
  }
}

/**
 * Whether PostgreSQL writes a number as it is here.
 *
 * @param {string | number | boolean | object} value
 */
function isDecimal(value) {
  const text = String(value);
  return (
    typeof value !== 'object' &&
    /^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(text) &&
    !/^-0(\.0*)?$/.test(text) &&
    text.length <= 100
  );
}

/** @param {string} digits */
function isBigint(digits) {
  return BigInt.asIntN(64, BigInt(digits)) === BigInt(digits);
}

/** @param {string} text */
function isDate(text) {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
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
  const usual = names.identifier.toLowerCase();
  const found =
    candidates.find(({ name }) => name.replace(/[^A-Za-z0-9]/g, '').toLowerCase() === usual) ??
    candidates.find(({ name }) => IDENTIFIERS.test(name)) ??
    candidates[0];
  if (found) return found;
  throw new GeneratorError(
    `No column of ${file} can be the identifier, which is unique and has 1 to 100 characters: describe the fields instead`,
  );
}

/**
 * The columns by the name of their field, the identifier first. A field has the name of its column,
 * unless a field cannot have that name.
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
    const isTime = TIMES.includes(column.name) && !column.types.includes('date-time');
    const base = isFieldName(column.name) && !isTime ? column.name : fieldNameFor(column.name);
    let name = base;
    const used = new Set([...named.keys()].map((other) => other.toLowerCase()));
    for (let at = 2; used.has(name.toLowerCase()); at += 1) name = `${base}${at}`;
    named.set(name, column);
  }
  return named;
}

/**
 * The name of a field whose column has a name that no field can have: `unitPrice` for `Unit price`.
 *
 * @param {string} column
 */
function fieldNameFor(column) {
  const words = column
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/ß/g, 'ss')
    .replace(/[^A-Za-z0-9]+/g, ' ')
    .trim();
  const name = camelOf(words.charAt(0).toLowerCase() + words.slice(1)).slice(0, 50);
  if (isFieldName(name) && !TIMES.includes(name)) return name;
  return `field${capitalised(name)}`.slice(0, 50);
}

/**
 * An argument of a shell command, in quotes if it needs them.
 *
 * @param {string} text
 */
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
    if (/\.json(\.gz)?$/.test(file)) yield* jsonRows(file, text);
    else if (/\.(ndjson|jsonl)(\.gz)?$/.test(file)) yield* ndjsonRows(file, text);
    else yield* csvRows(file, text);
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
        throw new GeneratorError(`${file}: the header has the column ${twice} twice`);
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
      throw new GeneratorError(`${file}, line ${at}: not JSON`);
    }
    if (typeof row !== 'object' || row === null || Array.isArray(row)) {
      throw new GeneratorError(`${file}, line ${at}: a row must be an object`);
    }
    yield Object.entries(row);
  }
}

/**
 * The objects of a list in JSON.
 *
 * @param {string} file
 * @param {NodeJS.ReadableStream} text
 * @returns {AsyncGenerator<[string, unknown][]>}
 */
async function* jsonRows(file, text) {
  text.setEncoding('utf8');
  let json = '';
  for await (const chunk of text) json += String(chunk);
  /** @type {unknown} */
  const rows = JSON.parse(json.replace(/^\uFEFF/, ''));
  if (!Array.isArray(rows)) throw new GeneratorError(`${file}: not a list of objects`);
  for (const [at, row] of /** @type {[number, unknown][]} */ ([...rows.entries()])) {
    if (typeof row !== 'object' || row === null || Array.isArray(row)) {
      throw new GeneratorError(`${file}, row ${at + 1}: a row must be an object`);
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
