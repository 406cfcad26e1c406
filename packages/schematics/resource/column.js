import {
  flagsOf,
  IDENTIFIER_TYPES,
  identifierColumn,
  isDouble,
  isSameNumber,
  JsonText,
  readJson,
} from '@catalogue/server/generator';
import { isName, LENGTH, PARAMETERS } from './fields.js';
import { GeneratorError } from './generator-error.js';

/** @typedef {import('./fields.js').Type} Type */

/** Usual names of an identifier of another object. */
const REFERENCES = /(_id|_ID|[a-z]I[dD])$/;
/** Usual names of amounts of money, which are exact. */
const MONEY = /price|cost|amount|fee|total|budget|salary|balance/i;
/** Two times of day, as opening hours have them. */
const HOURS = /(\d:\d\d|\d\s?[ap]\.?m\b).*(\d:\d\d|\d\s?[ap]\.?m\b)/is;

/**
 * Whether a value that is not null can be of a type. A column has the first of the types that all its values can be
 * of, so a type stands before those that also accept its values. A reference looks like others.
 *
 * @type {readonly (readonly [Type, (value: unknown, text: string) => boolean])[]}
 */
const ACCEPTS = [
  ['integer', (_, text) => isInteger(text, 32)],
  // A number of JSON is one in the list, too.
  ['double', (value, text) => typeof value === 'number' && isDouble(text)],
  ['bigint', (_, text) => isInteger(text, 64)],
  ['decimal', (_, text) => isDecimal(text)],
  ['boolean', (_, text) => /^(true|false|t|f)$/i.test(text)],
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
    (value, text) => typeof value === 'object' || (/^\s*[[{]/.test(text) && isExactJson(text)),
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
};

/**
 * @typedef {{ field: string, why?: string }} Use a field as the command line takes it, and why it is used like this
 *
 * @typedef {object} Reference what a column refers to
 * @property {string} resource
 * @property {boolean} isOwn whether it is the resource itself
 * @property {boolean} isTree whether it gets the filter by a tree
 *
 * @typedef {object} Surroundings
 * @property {ReadonlySet<string>} taken the names of all fields, in lower case
 * @property {Reference} [reference]
 */

/** What the rows so far show about a column. */
export class Column {
  /** How many values are not null. */
  values = 0;
  nullable = false;
  longest = 0;
  shortest = Infinity;
  /** @type {Set<string>} */
  distinct = new Set();
  /** The number of items of lists, and the distinct ones. */
  items = 0;
  /** @type {Set<unknown>} */
  distinctItems = new Set();
  /** The types that all its values can be of. */
  types = ACCEPTS;
  /** The line of the first value that repeats another, that is empty, and that no index holds. @type {Partial<Record<'repeated' | 'empty' | 'tooLong', number>>} */
  lines = {};

  /** @param {string} name */
  constructor(name) {
    this.name = name;
  }

  /** @type {(cell: unknown, line: number) => void} */
  add(cell, line) {
    if (cell === null || cell === undefined) return;
    const value = cell instanceof JsonText ? cell.value : cell;
    // An import refuses it, too.
    if (cell instanceof JsonText && typeof value === 'object' && !cell.isExact) {
      throw new GeneratorError(
        `The column ${this.name} has a number of more than 15 digits within a list or an object in line ${line}: put it in quotes`,
      );
    }
    const text = cellText(cell);
    this.types = this.types.filter(([, accepts]) => accepts(value, text));
    const length = Array.from(text).length;
    this.values += 1;
    this.longest = Math.max(this.longest, length);
    this.shortest = Math.min(this.shortest, length);
    if (this.distinct.has(text)) this.lines.repeated ??= line;
    if (length === 0) this.lines.empty ??= line;
    if (length > LENGTH.indexed) this.lines.tooLong ??= line;
    this.distinct.add(text);
    if (!Array.isArray(value)) return;
    this.items += value.length;
    for (const item of value) this.distinctItems.add(item);
  }

  /** @param {Type} type */
  canBe(type) {
    return this.types.some(([name]) => name === type);
  }

  /** Whether its values can identify objects, if each row has another one. */
  get isKey() {
    return this.canBe('text') && this.shortest > 0 && this.longest <= identifierColumn.length;
  }

  /** Whether it can be the identifier. */
  get identifies() {
    return this.distinct.size === this.values && !this.nullable && this.isKey;
  }

  /** The column as the identifier, beside other fields. @type {(name: string, others: readonly Use[]) => Use} */
  key(name, others) {
    const type = IDENTIFIER_TYPES.find((each) => each !== 'text' && this.canBe(each));
    if (type !== undefined) return { field: `${name}:${type}:identifier` };
    const isSearched = others.some(({ field }) => field.split(':').includes('words'));
    return { field: `${name}:identifier${isSearched && this.hasCodes ? ':words' : ''}` };
  }

  /** Whether most of its values have a digit. */
  get hasCodes() {
    const codes = [...this.distinct].filter((text) => /\d/.test(text));
    return codes.length * 2 > this.distinct.size;
  }

  /** The column as a field. @type {(name: string, surroundings: Surroundings) => Use} */
  use(name, { taken, reference }) {
    const type = this.type(name);
    const nullable = this.nullable ? ':null' : '';
    if (this.values === 0) return { field: `${name}:text${nullable}` };
    if (reference) {
      const { resource, isOwn, isTree } = reference;
      const flags = `${isTree ? ':tree' : ''}${this.repeats ? ':counted' : ''}`;
      return {
        field: `${name}:reference=${resource}${nullable}:several${flags}`,
        why: `identifiers of ${resource}${isOwn ? '' : ': load those first'}`,
      };
    }
    if (type === 'text') return this.text(`${name}:text`, nullable, taken);
    const values = type === 'enum' ? `=${[...this.distinct].sort().join('/')}` : '';
    const field = `${name}:${type}${values}${nullable}`;
    const isParameter = PARAMETERS.includes(name);
    const isKey = type === 'integer' || type === 'bigint' || type === 'uuid';
    if (isKey && !isParameter && REFERENCES.test(name)) {
      return {
        field: `${field}:several${this.repeats ? ':counted' : ''}`,
        why: 'identifiers of others',
      };
    }
    if (flagsOf(type).includes('interval')) {
      const hasBounds = ['min', 'max'].some((bound) => taken.has(name.toLowerCase() + bound));
      return { field: `${field}${hasBounds ? '' : ':interval'}:sort` };
    }
    if (isParameter) return { field };
    if (type !== 'texts' && type !== 'integers') return { field: field + (FILTERS[type] ?? '') };
    const isCounted = this.distinctItems.size * 2 <= this.items;
    return { field: `${field}:several${isCounted ? ':counted' : ''}` };
  }

  /** The type of the column as a field. @type {(name: string) => Type} */
  type(name) {
    const [type] =
      this.types.find(([each]) => {
        if (each === 'enum') return this.hasFew(12, 3);
        if (each === 'double') return !MONEY.test(name);
        // A letter alone may stand for something else.
        return each !== 'boolean' || this.distinct.size > 1 || !/^[tf]$/i.test(this.any);
      }) ?? [];
    if (type !== undefined) return type;
    throw new GeneratorError(
      `The column ${this.name} holds lists or objects in some rows and not in others`,
    );
  }

  /** One of its values. */
  get any() {
    const [value = ''] = this.distinct;
    return value;
  }

  /** The column as a text. @type {(described: string, nullable: string, taken: ReadonlySet<string>) => Use} */
  text(described, nullable, taken) {
    const name = described.replace(':text', '');
    const field = `${described}${this.longest > LENGTH.default ? '=unlimited' : ''}${nullable}`;
    if (PARAMETERS.includes(name)) return { field, why: 'every list has such a parameter' };
    const [why, ...flags] = this.textUse(name);
    const { empty, tooLong } = this.lines;
    // An index holds no longer text, and a filter cannot ask for an empty one.
    const isIndexed = empty === undefined && tooLong === undefined;
    const isSearched = !taken.has('q') && !taken.has('words');
    const possible = flags.filter((flag) => (flag === 'words' ? isSearched : isIndexed));
    if (possible.length === flags.length) return { field: [field, ...flags].join(':'), why };
    const lost = isIndexed
      ? 'another column is called q or words'
      : empty === undefined
        ? `some have more than ${LENGTH.indexed} characters, the first in line ${tooLong}`
        : `some are empty, the first in line ${empty}`;
    return { field: [field, ...possible].join(':'), why: `${why}; ${lost}` };
  }

  /** What a text looks like, and its flags for that. @type {(name: string) => [why: string, ...flags: string[]]} */
  textUse(name) {
    const texts = [...this.distinct];
    const mostly = (/** @type {(text: string) => boolean} */ holds) =>
      texts.filter(holds).length * 2 > texts.length;
    if (isName(name)) return ['a name', 'exact', 'sort', 'words'];
    if (mostly((text) => HOURS.test(text))) return ['times of day'];
    if (mostly((text) => /^https?:\/\//i.test(text))) return ['links'];
    const words = texts.reduce((sum, text) => sum + text.trim().split(/\s+/).length, 0);
    const hasWords = words >= 2 * texts.length;
    // More letters than digits.
    const isProse =
      hasWords && mostly((text) => text.split(/\p{L}/u).length > text.split(/\d/).length);
    // Somebody picks it from a list, or types it whole.
    const isTyped = this.longest <= 100;
    const isPicked = this.hasFew(20, 2);
    if (isTyped && (isPicked || this.hasFew(500, 5))) {
      const why = `${this.distinct.size} values in ${this.values} rows`;
      return [why, 'several', 'counted', ...(isProse && !isPicked ? ['words'] : [])];
    }
    if (isProse && isTyped && this.values >= 2 * texts.length) {
      return ['several words, repeated', 'exact', 'words'];
    }
    if (isProse) return ['several words', 'words'];
    if (hasWords) return ['more digits than letters'];
    if (!isTyped) return ['too long to be typed'];
    return this.hasCodes ? ['codes', 'exact', 'words'] : ['single words', 'exact'];
  }

  /** Whether a value is in two rows on average. */
  get repeats() {
    return this.hasFew(Infinity, 2);
  }

  /** Whether it has at most so many values, each of them in so many rows on average. @type {(maximum: number, rows: number) => boolean} */
  hasFew(maximum, rows) {
    const { size } = this.distinct;
    return size >= 2 && size <= maximum && size * rows <= this.values;
  }
}

/** A cell as one text for equal values: `5` for the number `5.0`. @type {(cell: unknown) => string} */
function cellText(cell) {
  if (!(cell instanceof JsonText)) return String(cell);
  const { text, value } = cell;
  if (typeof value === 'object') return JSON.stringify(value);
  const digits = String(value);
  return !digits.includes('e') && isSameNumber(text, digits) ? digits : text;
}

/** Whether a text is a list or an object in JSON whose numbers JavaScript keeps. @type {(text: string) => boolean} */
function isExactJson(text) {
  const json = readJson(text);
  return json instanceof JsonText && json.isExact;
}

/** Whether a name is usual for an identifier of another object. @type {(name: string) => boolean} */
export const isReferenceName = (name) => REFERENCES.test(name);

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
