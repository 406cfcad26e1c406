import jsonc from 'jsonc-parser';

/** Maximum levels of a JSON value: it is read level by level, here and by its readers. */
export const MAXIMUM_LEVELS = 100;

/** A number, an object or a list in JSON. */
export class JsonText {
  /** What JavaScript makes of it: 1.1. @type {unknown} */
  value;

  /** @param {string} text as it stands in the file: `1.10` */
  constructor(text) {
    this.text = text;
    this.value = JSON.parse(text);
  }

  /** Whether the value has all digits of the text. */
  get isExact() {
    const numbers = this.text.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/-?[0-9][0-9.eE+-]*/g);
    return numbers?.every(hasItsDigits) ?? true;
  }
}

/** What is wrong with a text in JSON, and in which key of the object; `undefined` for the whole. */
export class JsonError extends Error {
  /** @param {string} message @param {string} [key] */
  constructor(message, key) {
    super(message);
    this.key = key;
  }
}

/** @typedef {string | boolean | null | JsonText} JsonCell */

/** The values of an object in JSON, by key. @type {(text: string) => Map<string, JsonCell>} @throws {JsonError} */
export function readObject(text) {
  if (!/^\s*\{/.test(text)) throw new JsonError('is not a JSON object');
  return new JsonReader(text, 1).cells;
}

/** What a text in JSON says; `undefined` for any other text. @type {(text: string) => JsonCell | undefined} */
export function readJson(text) {
  try {
    return new JsonReader(text, 0).cells.get('');
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** Makes cells of the tokens of JSON. `JSON.parse` rounds numbers, and takes the last of several equal keys. */
class JsonReader {
  /** @type {Map<string, JsonCell>} */
  cells = new Map();
  /** The key of the cell. */
  key = '';
  /** Where an object or a list begins that is a cell. */
  begin = 0;
  /** The keys of the objects and lists that are open, the outermost first. @type {Set<string>[]} */
  open = [];

  /** @param {string} text @param {0 | 1} depth how many objects are around a cell */
  constructor(text, depth) {
    this.text = text;
    this.depth = depth;
    /** @type {import('jsonc-parser').JSONVisitor} */
    const visitor = {
      onObjectBegin: (at) => this.enter(at),
      onArrayBegin: (at) => this.enter(at),
      onObjectProperty: (key) => this.name(key),
      onLiteralValue: (_, at, length) => this.add(at, at + length),
      onObjectEnd: (at) => this.leave(at),
      onArrayEnd: (at) => this.leave(at),
      onError: (_, at) => this.fail(at),
    };
    jsonc.visit(text, visitor, { disallowComments: true });
  }

  /** @param {number} at */
  enter(at) {
    if (this.open.length === this.depth) this.begin = at;
    this.open.push(new Set());
    if (this.open.length > this.depth + MAXIMUM_LEVELS) {
      throw new JsonError(`has more than ${MAXIMUM_LEVELS} levels`, this.key);
    }
  }

  /** @param {string} key */
  name(key) {
    const keys = this.open.at(-1);
    if (this.open.length === this.depth) this.key = key;
    if (keys?.has(key)) throw new JsonError(`has the key ${JSON.stringify(key)} twice`, this.key);
    keys?.add(key);
  }

  /** @param {number} at */
  leave(at) {
    // Nothing closes at the end of the text.
    if (at === this.text.length) this.fail(at);
    this.open.pop();
    this.add(this.begin, at + 1);
  }

  /** @type {(begin: number, end: number) => void} */
  add(begin, end) {
    if (this.open.length !== this.depth) return;
    const text = this.text.slice(begin, end);
    const isPlain = /^["tfn]/.test(text);
    this.cells.set(this.key, isPlain ? JSON.parse(text) : new JsonText(text));
  }

  /** @param {number} at @returns {never} */
  fail(at) {
    if (!this.open[0]?.size) throw new JsonError('is not a JSON object');
    const rest = JSON.stringify(this.text.slice(at, at + 20));
    throw new JsonError(rest === '""' ? 'ends too early' : `is not JSON at ${rest}`, this.key);
  }
}

/** Whether a number in JSON has at most 15 digits, and so many decimal places that JavaScript keeps it. @type {(text: string) => boolean} */
function hasItsDigits(text) {
  return (
    decimalOf(text).digits.replace('-', '').length <= 15 && isSameNumber(text, String(Number(text)))
  );
}

/** Whether two texts in JSON are the same number. @type {(one: string, other: string) => boolean} */
export function isSameNumber(one, other) {
  const [a, b] = [decimalOf(one), decimalOf(other)];
  return a.digits === b.digits && a.exponent === b.exponent;
}

/** Whether a double keeps a number: it is the double, or what that is when rounded to as many digits. @type {(text: string) => boolean} */
export function isDouble(text) {
  const value = Number(text);
  if (isSameNumber(text, String(value))) return true;
  const { length } = decimalOf(text).digits.replace('-', '');
  return length >= 1 && length <= 100 && isSameNumber(text, value.toPrecision(length));
}

/** The digits of a number, and the power of ten behind them. Zero has no digits. @type {(text: string) => { digits: string, exponent: number }} */
function decimalOf(text) {
  const [, sign = '', whole = text, fraction = '', power = '0'] =
    /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(text) ?? [];
  const all = `${whole}${fraction}`.replace(/^0+/, '');
  const digits = all.replace(/0+$/, '');
  const exponent = Number(power) - fraction.length + all.length - digits.length;
  return digits === '' ? { digits, exponent: 0 } : { digits: sign + digits, exponent };
}
