/** Maximum levels of a JSON value: it is read level by level, here and by its readers. */
export const MAXIMUM_LEVELS = 100;

/** A number, an object or a list in JSON. */
export class JsonText {
  /**
   * @param {string} text as it stands in the file: `1.10`
   * @param {unknown} value what JavaScript makes of it: 1.1
   * @param {boolean} isKept whether the value has all digits of the text
   */
  constructor(text, value, isKept) {
    this.text = text;
    this.value = value;
    this.isKept = isKept;
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
  const reader = new JsonReader(text);
  const cells = reader.object(() => reader.cell(), true);
  reader.key = undefined;
  reader.end();
  return cells;
}

/** What a text in JSON says; `undefined` for any other text. @type {(text: string) => JsonCell | undefined} */
export function readJson(text) {
  const reader = new JsonReader(text);
  try {
    const cell = reader.cell();
    reader.end();
    return cell;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

const LITERAL = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/**
 * Reads JSON, RFC 8259. `JSON.parse` rounds numbers before anybody sees their digits, and takes the last of several
 * equal keys.
 */
class JsonReader {
  at = 0;
  /** The last key of the outermost object. @type {string | undefined} */
  key;
  /** Whether JavaScript has all digits of the numbers that were read. */
  isKept = true;

  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  /** @returns {JsonCell} */
  cell() {
    this.next();
    const begin = this.at;
    this.isKept = true;
    const value = this.value(MAXIMUM_LEVELS);
    if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
    return new JsonText(this.text.slice(begin, this.at), value, this.isKept);
  }

  /** @param {number} levels @returns {unknown} */
  value(levels) {
    const first = this.next();
    if (first === '"') return this.string();
    if (first !== '{' && first !== '[') return this.literal();
    if (levels === 0) throw new JsonError(`has more than ${MAXIMUM_LEVELS} levels`, this.key);
    const read = () => this.value(levels - 1);
    return first === '{' ? Object.fromEntries(this.object(read)) : this.list(read);
  }

  /**
   * @template T
   * @param {() => T} read a value
   * @param {boolean} [isOutermost] whether errors name its keys
   * @returns {Map<string, T>}
   */
  object(read, isOutermost = false) {
    /** @type {Map<string, T>} */
    const members = new Map();
    this.take('{');
    while (!this.isClosed('}', members.size)) {
      if (this.next() !== '"') this.fail();
      const key = this.string();
      if (isOutermost) this.key = key;
      if (members.has(key)) {
        throw new JsonError(`has the key ${JSON.stringify(key)} twice`, this.key);
      }
      this.take(':');
      members.set(key, read());
    }
    return members;
  }

  /** @template T @param {() => T} read an item @returns {T[]} */
  list(read) {
    /** @type {T[]} */
    const items = [];
    this.take('[');
    while (!this.isClosed(']', items.length)) items.push(read());
    return items;
  }

  /** Takes the end of an object or a list, or else the comma behind its members. @type {(end: string, members: number) => boolean} */
  isClosed(end, members) {
    if (this.next() === end) {
      this.at += 1;
      return true;
    }
    if (members > 0) this.take(',');
    return false;
  }

  string() {
    const begin = this.at;
    let at = begin + 1;
    let isEscaped = false;
    for (let code; (code = this.text.charCodeAt(at)) !== 34; at += 1) {
      if (code === 92) {
        isEscaped = true;
        at += 1;
      } else if (!(code >= 32)) this.fail();
    }
    this.at = at + 1;
    const text = this.text.slice(begin, this.at);
    if (!isEscaped) return text.slice(1, -1);
    try {
      return /** @type {string} */ (JSON.parse(text));
    } catch {
      this.at = begin;
      return this.fail();
    }
  }

  literal() {
    LITERAL.lastIndex = this.at;
    const [text] = LITERAL.exec(this.text) ?? this.fail();
    this.at = LITERAL.lastIndex;
    if (text === 'null') return null;
    if (text === 'true' || text === 'false') return text === 'true';
    this.isKept &&= hasItsDigits(text);
    return Number(text);
  }

  /** The next character that is no space. */
  next() {
    let code = this.text.charCodeAt(this.at);
    while (code === 32 || code === 9 || code === 10 || code === 13) {
      this.at += 1;
      code = this.text.charCodeAt(this.at);
    }
    return this.text.charAt(this.at);
  }

  /** @param {string} character */
  take(character) {
    if (this.next() !== character) this.fail();
    this.at += 1;
  }

  end() {
    if (this.next() !== '') this.fail();
  }

  /** @returns {never} */
  fail() {
    if (this.key === undefined) throw new JsonError('is not a JSON object');
    const rest = JSON.stringify(this.text.slice(this.at, this.at + 20));
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
