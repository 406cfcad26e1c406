import pluralize from 'pluralize';
import { capitalised, camelOf } from '../names.js';
import { LEAVES } from '../shape.js';

/**
 * @typedef {import('../shape.js').SampledShape} SampledShape
 */

/**
 * The classes of the shapes of a resource's fields in JSON.
 *
 * @typedef {object} Classes
 * @property {string} text their declarations
 * @property {ReadonlyMap<string, string>} properties the TypeScript type of each field with a shape
 * @property {readonly string[]} decorators of class-validator
 */

/** Names that the entity's file imports besides those of decorators of class-validator. */
const IMPORTED = ['Type', 'Check', 'Column', 'ForeignKey', 'Index', 'Meaning', 'Resource'];

/**
 * @param {string} prefix what the names of the classes begin with
 * @param {ReadonlyMap<string, SampledShape>} shapes by field
 * @param {Iterable<string>} others names of other classes
 * @returns {Classes}
 */
export function classesOf(prefix, shapes, others) {
  const taken = new Set([...IMPORTED, ...others]);
  const decorators = new Set(/** @type {string[]} */ ([]));
  let text = '';

  /** @param {string} name */
  function unique(name) {
    let free = name;
    for (let at = 2; taken.has(free); at += 1) free = `${name}${at}`;
    taken.add(free);
    return free;
  }

  /**
   * Declares the class of objects, behind those of their values.
   *
   * @param {string} wanted
   * @param {SampledShape} shape
   * @returns {string} its name
   */
  function declare(wanted, shape) {
    const name = unique(wanted);
    // Before shapes are merged.
    const members = [...shape.keys].map(([key, value]) => ({
      key,
      value,
      isOptional: shape.isOptional(value),
    }));
    /** @type {Map<string, { keys: string[], shape: SampledShape }>} */
    const alike = new Map();
    for (const { key, value } of members) {
      const objects = objectsOf(value);
      if (!objects) continue;
      const signature = objects.describe().replaceAll('?', '');
      const same = alike.get(signature);
      if (same) {
        same.keys.push(key);
        same.shape.merge(objects);
      } else {
        alike.set(signature, { keys: [key], shape: objects });
      }
    }
    /** @type {Map<string, string>} */
    const classes = new Map();
    for (const { keys, shape: objects } of alike.values()) {
      const [key = ''] = keys;
      const own = declare(`${name}${keys.length > 1 ? 'Entry' : wordOf(key)}`, objects);
      for (const each of keys) classes.set(each, own);
    }
    const properties = members.map(({ key, value, isOptional }) =>
      property(key, value, isOptional, classes.get(key)),
    );
    text += `\nexport class ${name} {\n${properties.join('\n')}}\n`;
    return name;
  }

  /**
   * @param {string} key
   * @param {SampledShape} shape
   * @param {boolean} isOptional
   * @param {string | undefined} className
   */
  function property(key, shape, isOptional, className) {
    const isList = shape.kind === 'list';
    const { kind } = isList && shape.items ? shape.items : shape;
    const leaf = kind === 'any' || kind === 'object' || kind === 'list' ? undefined : LEAVES[kind];
    const decorator = className ? 'ValidateNested' : (leaf?.decorator ?? 'Allow');
    decorators.add(decorator);
    if (isOptional) decorators.add('IsOptional');
    const type = `${className ?? leaf?.property ?? 'unknown'}${isList ? '[]' : ''}`;
    return `${isOptional ? '  @IsOptional()\n' : ''}  @${decorator}(${isList ? '{ each: true }' : ''})
${className ? `  @Type(() => ${className})\n` : ''}  ${propertyName(key)}${isOptional ? '?' : '!'}: ${type}${isOptional && type !== 'unknown' ? ' | null' : ''};
`;
  }

  const properties = new Map(
    [...shapes].map(([field, shape]) => {
      const objects = objectsOf(shape);
      if (!objects) throw new TypeError(`The field ${field} has no class`);
      const isList = shape.kind === 'list';
      const one = isList ? pluralize.singular(field) : field;
      const name = declare(`${prefix}${capitalised(one)}`, objects);
      return [field, isList ? `${name}[]` : name];
    }),
  );
  return { text, properties, decorators: [...decorators] };
}

/**
 * The objects that are values, or items of lists that are values.
 *
 * @param {SampledShape} shape
 */
function objectsOf(shape) {
  if (!shape.hasClass) return undefined;
  return shape.kind === 'list' ? shape.items : shape;
}

/**
 * A key as a part of the name of a class: `PlantId` for `plant id`.
 *
 * @param {string} key
 */
function wordOf(key) {
  const words = key
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9]+/g, ' ')
    .trim();
  return capitalised(camelOf(words)).slice(0, 30) || 'Part';
}

/**
 * A key as the name of a property in TypeScript.
 *
 * @param {string} key
 */
export function propertyName(key) {
  return /^[A-Za-z][A-Za-z0-9]*$/.test(key) && !MODIFIERS.has(key) ? key : JSON.stringify(key);
}

/** What a property's declaration could begin with. */
const MODIFIERS = new Set([
  ...['static', 'readonly', 'declare', 'abstract', 'accessor', 'async', 'get', 'set', 'override'],
  ...['public', 'protected', 'private'],
]);
