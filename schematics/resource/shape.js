import { hasItsDigits } from '../../src/resource/column-types.js';
import { GeneratorError } from './generator-error.js';

/** Maximum keys of an object with a class: more are no names of properties, but values such as dates. */
const MAXIMUM_KEYS = 50;
/** Maximum levels of objects and lists with a class. */
const MAXIMUM_LEVELS = 6;

/**
 * The decorator of class-validator and the type of each kind of values.
 *
 * @type {Readonly<Record<Leaf, { decorator: string, property: string }>>}
 */
export const LEAVES = {
  text: { decorator: 'IsString', property: 'string' },
  integer: { decorator: 'IsInt', property: 'number' },
  number: { decorator: 'IsNumber', property: 'number' },
  boolean: { decorator: 'IsBoolean', property: 'boolean' },
};

/**
 * @typedef {'text' | 'integer' | 'number' | 'boolean'} Leaf
 * @typedef {Leaf | 'object' | 'list' | 'any'} Kind
 */

/**
 * What sampled values in JSON have in common. What classes declare of values is `Shape` of
 * `src/resource/json-shape.ts`.
 */
export class SampledShape {
  /** How many values there are, with those that are null. */
  count = 0;
  nulls = 0;
  /** @type {Map<string, SampledShape>} the values of objects, by key */
  keys = new Map();
  /** @type {SampledShape | undefined} the items of lists */
  items;
  /** @type {Set<Kind>} */
  kinds = new Set();

  /**
   * @param {unknown} value
   * @param {string} path where the value is, for a refusal
   * @param {number} levels how deep it is
   */
  add(value, path, levels = 0) {
    this.count += 1;
    if (value === null || value === undefined) {
      this.nulls += 1;
      return;
    }
    const kind = levels > MAXIMUM_LEVELS ? 'any' : kindOf(value, path);
    this.kinds.add(kind);
    if (kind === 'list') {
      this.items ??= new SampledShape();
      for (const item of /** @type {unknown[]} */ (value)) {
        this.items.add(item, `${path}[]`, levels + 1);
      }
    }
    if (kind === 'object') {
      for (const [key, each] of Object.entries(/** @type {object} */ (value))) {
        let shape = this.keys.get(key);
        if (!shape) this.keys.set(key, (shape = new SampledShape()));
        shape.add(each, `${path}.${key}`, levels + 1);
      }
    }
  }

  /**
   * The kind of all values; `any` if they have no kind that a class can declare.
   *
   * @returns {Kind}
   */
  get kind() {
    const [kind = 'any', ...others] = this.kinds;
    if (others.length > 0) {
      return [...this.kinds].every((each) => each === 'integer' || each === 'number')
        ? 'number'
        : 'any';
    }
    if (kind === 'list') return this.items && this.items.isItem ? 'list' : 'any';
    if (kind !== 'object') return kind;
    const names = [...this.keys.keys()];
    return names.length > 0 && names.length <= MAXIMUM_KEYS && names.every(isPropertyName)
      ? 'object'
      : 'any';
  }

  /**
   * Whether a list can hold the values: class-validator has no lists of lists, or of null.
   *
   * @returns {boolean}
   */
  get isItem() {
    return this.nulls === 0 && this.kind !== 'any' && this.kind !== 'list';
  }

  /** Whether the values are objects with a class, or lists of them. */
  get hasClass() {
    return this.kind === 'object' || (this.kind === 'list' && this.items?.kind === 'object');
  }

  /**
   * Whether a value of the objects may be missing or null.
   *
   * @param {SampledShape} value one of `keys`
   */
  isOptional(value) {
    return value.nulls > 0 || value.count < this.count - this.nulls;
  }

  /**
   * Adds the values of another shape.
   *
   * @param {SampledShape} other
   */
  merge(other) {
    this.count += other.count;
    this.nulls += other.nulls;
    for (const kind of other.kinds) this.kinds.add(kind);
    for (const [key, shape] of other.keys) {
      const own = this.keys.get(key);
      if (own) own.merge(shape);
      else this.keys.set(key, shape);
    }
    if (other.items && this.items) this.items.merge(other.items);
    else this.items ??= other.items;
  }

  /**
   * As text: `{ from: integer, to?: { metres: number } }`.
   *
   * @returns {string}
   */
  describe() {
    switch (this.kind) {
      case 'list':
        return `${this.items?.describe() ?? ''}[]`;
      case 'object':
        return `{ ${[...this.keys].map(([key, each]) => `${key}${this.isOptional(each) ? '?' : ''}: ${each.describe()}`).join(', ')} }`;
      default:
        return this.kind;
    }
  }
}

/**
 * @param {unknown} value not null
 * @param {string} path
 * @returns {Kind}
 */
function kindOf(value, path) {
  switch (typeof value) {
    case 'string':
      return 'text';
    case 'boolean':
      return 'boolean';
    case 'number':
      // An import refuses it, too.
      if (!hasItsDigits(value)) {
        throw new GeneratorError(`${path} has the number ${value}: put its digits in quotes`);
      }
      return Number.isInteger(value) ? 'integer' : 'number';
    default:
      return Array.isArray(value) ? 'list' : 'object';
  }
}

/**
 * Whether a class can have a property of this name.
 *
 * @param {string} name
 */
function isPropertyName(name) {
  return name !== '' && !(name in {}) && name.isWellFormed() && !name.includes('\0');
}
