import {
  COLUMN_TYPES,
  hasItsDigits,
  IDENTIFIER_TYPES,
  identifierColumn,
} from '../../src/resource/column-types.js';
import { isFieldName, LENGTH, PARAMETERS, TIMES } from './fields.js';
import { camelOf, capitalised } from './names.js';
import { GeneratorError } from './generator-error.js';
import { parsed, rowsOf } from './rows.js';

/** @typedef {import('./fields.js').Type} Type */

/** Maximum number of rows that are read. */
const MAXIMUM_ROWS = 100_000;
/** Usual names of an identifier, for the choice between columns whose values are unique. */
const IDENTIFIERS = /^(_?id|key|code|sku|slug|uuid|number)$/i;
/** Usual names of a number or UUID that identifies an object of another resource. */
const REFERENCES = /(_id|_ID|[a-z]I[dD])$/;
/** Two times of day, as opening hours have them. */
const HOURS = /(\d:\d\d|\d\s?[ap]\.?m\b).*(\d:\d\d|\d\s?[ap]\.?m\b)/is;

/**
 * Proposes the fields for a file's rows.
 *
 * @param {string} file CSV, NDJSON or a list in JSON, which may be compressed with gzip
 * @param {import('./names.js').Names} names
 * @param {string} [delimiter] of CSV
 * @returns {Promise<{ fields: string, lines: string[] }>} the fields as the command line takes them, and the lines to
 * print
 */
export async function proposal(file, names, delimiter) {
  /** @type {Map<string, Column>} */
  const columns = new Map();
  let rows = 0;
  for await (const row of rowsOf(file, delimiter)) {
    for (const [name, value] of row) {
      const column = columns.get(name) ?? new Column(name);
      columns.set(name, column);
      column.add(value);
    }
    rows += 1;
    if (rows === MAXIMUM_ROWS) break;
  }
  if (rows === 0) throw new GeneratorError(`${file} has no rows`);
  for (const column of columns.values()) column.nullable = column.values < rows;
  const identifier = identifierAmong([...columns.values()], names.identifier, file);
  const named = nameColumns(columns.values(), identifier);
  const taken = new Set([...named.keys()].map((name) => name.toLowerCase()));
  const proposed = [...named]
    .filter(([name, column]) => column === identifier || !TIMES.includes(name))
    .map(([name, column]) => (column === identifier ? column.key(name) : column.use(name, taken)));
  const maps = [...named]
    .filter(([name, column]) => name !== column.name)
    .map(([name, column]) => ` --map ${shell(`${name}=${column.name}`)}`);
  const separated = delimiter === undefined ? '' : ` --delimiter ${shell(delimiter)}`;
  return {
    fields: proposed.map(({ field }) => field).join(','),
    lines: [
      `From ${rows}${rows === MAXIMUM_ROWS ? ' rows and more' : ' rows'} of ${file}:`,
      ...proposed.map(({ field, why }) => `  ${field}${why ? ` (${why})` : ''}`),
      'To load them:',
      '  npm run -s catalogue -- migrate',
      `  npm run -s catalogue -- import ${names.resource} ${shell(file)}${separated}${maps.join('')}`,
    ],
  };
}

/**
 * Whether a value that is not null can be of a type. A column has the first of the types that all its values can be
 * of, so a type stands before those that also accept its values. A double and a reference look like others.
 *
 * @type {readonly (readonly [Type, (value: unknown, text: string) => boolean])[]}
 */
const ACCEPTS = [
  ['integer', (_, text) => isInteger(text, 32)],
  ['bigint', (_, text) => isInteger(text, 64)],
  ['decimal', (_, text) => isDecimal(text)],
  ['boolean', (_, text) => text === 'true' || text === 'false'],
  ['date', (_, text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text)],
  [
    'date-time',
    (_, text) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?(Z|[+-]\d{2}:\d{2})$/.test(text),
  ],
  // Lists of an NDJSON file. A cell of CSV that looks like one comes out as it went in.
  ['texts', (value) => isListOf(value, (item) => typeof item === 'string' && isIndexable(item))],
  ['integers', (value) => isListOf(value, (item) => item === (Number(item) | 0))],
  [
    'json',
    (value, text) =>
      typeof value === 'object' || (/^\s*[[{]/.test(text) && parsed(text) !== undefined),
  ],
  ['enum', (value, text) => typeof value === 'string' && /^[A-Z][A-Z0-9_]{0,62}$/.test(text)],
  // In lower case, as PostgreSQL writes them.
  ['uuid', (_, text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)],
  ['text', (value) => typeof value !== 'object'],
];

/** The filters of the types that have none by bounds. @type {Readonly<Partial<Record<Type, string>>>} */
const FILTERS = {
  enum: ':several:counted',
  boolean: ':exact:counted',
  uuid: ':exact',
  texts: ':several',
  integers: ':several',
};

/** A field as the command line takes it, and why it is used like this. @typedef {{ field: string, why?: string }} Use */

/** What the rows so far show about a column. */
class Column {
  /** How many values are not null. */
  values = 0;
  nullable = false;
  longest = 0;
  shortest = Infinity;
  /** @type {Set<string>} */
  distinct = new Set();
  /** The types that all its values can be of. */
  types = ACCEPTS;

  /** @param {string} name */
  constructor(name) {
    this.name = name;
  }

  /** @param {unknown} value */
  add(value) {
    if (value === null || value === undefined) return;
    // An import refuses it, too.
    if (typeof value === 'number' && !hasItsDigits(value)) {
      throw new GeneratorError(
        `The column ${this.name} has the number ${value}: put its digits in quotes`,
      );
    }
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    this.types = this.types.filter(([, accepts]) => accepts(value, text));
    const length = Array.from(text).length;
    this.values += 1;
    this.longest = Math.max(this.longest, length);
    this.shortest = Math.min(this.shortest, length);
    this.distinct.add(text);
  }

  /** @param {Type} type */
  canBe(type) {
    return this.types.some(([name]) => name === type);
  }

  /** Whether it can be the identifier. */
  get identifies() {
    const isUnique = this.distinct.size === this.values && !this.nullable && this.canBe('text');
    return isUnique && this.shortest > 0 && this.longest <= identifierColumn.length;
  }

  /** The column as the identifier. @type {(name: string) => Use} */
  key(name) {
    const type = IDENTIFIER_TYPES.find((each) => each !== 'text' && this.canBe(each));
    return { field: `${name}:${type === undefined ? '' : `${type}:`}identifier` };
  }

  /** The column as a field; `taken` are the names of all fields, in lower case. @type {(name: string, taken: ReadonlySet<string>) => Use} */
  use(name, taken) {
    const { size } = this.distinct;
    const [type] = this.types.find(([each]) => each !== 'enum' || this.hasFew(12, 3)) ?? [];
    if (type === undefined) {
      throw new GeneratorError(
        `The column ${this.name} holds lists or objects in some rows and not in others`,
      );
    }
    const nullable = this.nullable ? ':null' : '';
    if (size === 0) return { field: `${name}:text${nullable}` };
    const isParameter = PARAMETERS.includes(name);
    if (type === 'text') {
      const field = `${name}:text${this.longest > LENGTH.default ? '=unlimited' : ''}${nullable}`;
      if (isParameter) return { field, why: 'every list has such a parameter' };
      const [why, ...flags] = this.textUse(name);
      // An index holds no longer text, and a filter cannot ask for an empty one.
      const isIndexed = this.longest <= LENGTH.indexed && this.shortest > 0;
      const isSearched = !taken.has('q') && !taken.has('words');
      const lost = isIndexed ? 'another column is called q or words' : 'some are empty or too long';
      const possible = flags.filter((flag) => (flag === 'words' ? isSearched : isIndexed));
      const isLess = possible.length < flags.length;
      return { field: [field, ...possible].join(':'), why: isLess ? `${why}; ${lost}` : why };
    }
    const values = type === 'enum' ? `=${[...this.distinct].sort().join('/')}` : '';
    const field = `${name}:${type}${values}${nullable}`;
    const isKey = type === 'integer' || type === 'bigint' || type === 'uuid';
    if (isKey && !isParameter && REFERENCES.test(name)) {
      return {
        field: `${field}:several${this.hasFew(500, 5) ? ':counted' : ''}`,
        why: 'identifiers of others',
      };
    }
    if (COLUMN_TYPES[type].flags.some((flag) => flag === 'interval')) {
      const hasBounds = ['min', 'max'].some((bound) => taken.has(name.toLowerCase() + bound));
      return { field: hasBounds ? field : `${field}:interval` };
    }
    return { field: isParameter ? field : field + (FILTERS[type] ?? '') };
  }

  /** What a text looks like, and its flags for that. @type {(name: string) => [why: string, ...flags: string[]]} */
  textUse(name) {
    const texts = [...this.distinct];
    const mostly = (/** @type {(text: string) => boolean} */ holds) =>
      texts.filter(holds).length * 2 > texts.length;
    if (/^(name|title|label)$/i.test(name)) return ['a name', 'exact', 'sort', 'words'];
    if (mostly((text) => HOURS.test(text))) return ['times of day'];
    if (mostly((text) => /^https?:\/\//i.test(text))) return ['links'];
    const words = texts.reduce((sum, text) => sum + text.trim().split(/\s+/).length, 0);
    const hasWords = words >= 2 * texts.length;
    // More letters than digits.
    const isProse =
      hasWords && mostly((text) => text.split(/\p{L}/u).length > text.split(/\d/).length);
    // Somebody picks it from a list, or types it whole.
    const isTyped = this.longest <= 100;
    if (isTyped && this.hasFew(500, 5)) {
      const why = `${this.distinct.size} values in ${this.values} rows`;
      return [why, 'several', 'counted', ...(isProse ? ['words'] : [])];
    }
    if (isProse && isTyped && this.values >= 2 * texts.length) {
      return ['several words, repeated', 'exact', 'words'];
    }
    if (isProse) return ['several words', 'words'];
    if (hasWords) return ['more digits than letters'];
    return isTyped ? ['single words or codes', 'exact'] : ['too long to be typed'];
  }

  /** Whether it has at most so many values, each of them in so many rows on average. @type {(maximum: number, rows: number) => boolean} */
  hasFew(maximum, rows) {
    const { size } = this.distinct;
    return size >= 2 && size <= maximum && size * rows <= this.values;
  }
}

/** Whether PostgreSQL writes a number as it is here. @type {(text: string) => boolean} */
const isDecimal = (text) =>
  /^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(text) && !/^-0(\.0*)?$/.test(text) && text.length <= 100;

/** @type {(text: string, bits: number) => boolean} */
const isInteger = (text, bits) =>
  isDecimal(text) && !text.includes('.') && BigInt.asIntN(bits, BigInt(text)) === BigInt(text);

/** Whether there is a day of this date, and PostgreSQL has its year. @type {(text: string) => boolean} */
function isDay(text) {
  const day = new Date(`${text}T00:00:00Z`);
  const isValid = !text.startsWith('0000') && !Number.isNaN(day.getTime());
  return isValid && day.toISOString().startsWith(text);
}

/** @type {(value: unknown, isItem: (item: unknown) => boolean) => boolean} */
const isListOf = (value, isItem) => Array.isArray(value) && value.every(isItem);

/** @type {(text: string) => boolean} */
const isIndexable = (text) => text !== '' && Array.from(text).length <= LENGTH.indexed;

/** @type {(columns: readonly Column[], usual: string, file: string) => Column} */
function identifierAmong(columns, usual, file) {
  const candidates = columns.filter(({ identifies }) => identifies);
  const bare = (/** @type {string} */ name) => name.replace(/[^A-Za-z0-9]/g, '').toLowerCase();
  const found =
    candidates.find(({ name }) => bare(name) === usual.toLowerCase()) ??
    candidates.find(({ name }) => IDENTIFIERS.test(name)) ??
    candidates[0];
  if (found) return found;
  throw new GeneratorError(
    `No column of ${file} can be the identifier, which is unique and has 1 to 100 characters: describe the fields instead`,
  );
}

/**
 * The columns by the name of their field, the identifier first. A field has the name of its column, unless a field
 * cannot have that name.
 *
 * @type {(columns: Iterable<Column>, identifier: Column) => Map<string, Column>}
 */
function nameColumns(columns, identifier) {
  /** @type {Map<string, Column>} */
  const named = new Map();
  const used = new Set();
  for (const column of new Set([identifier, ...columns])) {
    const isTime = TIMES.includes(column.name) && !column.canBe('date-time');
    const base = isFieldName(column.name) && !isTime ? column.name : fieldNameFor(column.name);
    let name = base;
    for (let at = 2; used.has(name.toLowerCase()); at += 1) name = `${base}${at}`;
    used.add(name.toLowerCase());
    named.set(name, column);
  }
  return named;
}

/** A name for a field whose column has another one: `unitPrice` for `Unit price`. @type {(column: string) => string} */
function fieldNameFor(column) {
  const folded = column.normalize('NFKD').replace(/\p{M}/gu, '').replace(/ß/g, 'ss');
  const words = folded.replace(/[^A-Za-z0-9]+/g, ' ').trim();
  const name = camelOf(words.charAt(0).toLowerCase() + words.slice(1)).slice(0, 50);
  if (isFieldName(name) && !TIMES.includes(name)) return name;
  return `field${capitalised(name)}`.slice(0, 50);
}

/** An argument of a shell command, in quotes if it needs them. @type {(text: string) => string} */
export const shell = (text) =>
  /^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll(`'`, `'\\''`)}'`;
