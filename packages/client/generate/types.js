/** TypeScript for JSON schemas, of the keywords that the document of a catalogue has. */

/** @typedef {import('./document.js').Json} Json */

/** The names that the module has beside those of the schemas. */
const TAKEN = /^(Catalogue|CatalogueOptions|Date|Omit|Readonly|Record|Resources?|Transport)$/;

/**
 * The name of the interface of a schema.
 *
 * @param {string} schema
 */
export function interfaceName(schema) {
  return TAKEN.test(schema) ? `${schema}Object` : schema;
}

/**
 * The type of the values of a schema.
 *
 * @param {Json} schema
 * @param {ReadonlyMap<string, string[]>} [formats] the types of texts of a format, in place of `string`
 */
function typeOf(schema, formats) {
  return union(alternatives(schema, formats));
}

/**
 * @param {Json} schema
 * @param {ReadonlyMap<string, string[]>} [formats]
 * @returns {string[]} types, of which a value has one
 */
function alternatives(schema, formats) {
  const { $ref, oneOf, enum: values, type, format, items = {}, properties } = schema;
  if ($ref) return [interfaceName($ref.split('/').at(-1))];
  if (oneOf) return oneOf.flatMap((/** @type {Json} */ each) => alternatives(each, formats));
  if (values) return values.map(literal);
  if (Array.isArray(type)) {
    return type.flatMap((each) => alternatives({ ...schema, type: each }, formats));
  }
  if (type === 'array') {
    const types = alternatives(items, formats);
    return [types.length === 1 ? `readonly ${types[0]}[]` : `readonly (${union(types, '\n')})[]`];
  }
  if (type === 'object' && properties) return [objectType(properties, schema.required)];
  if (type === 'object') return ['Readonly<Record<string, unknown>>'];
  if (type === 'integer') return ['number'];
  return formats?.get(format) ?? [type ?? 'unknown'];
}

/**
 * Types on one line, or on a line each if that is long.
 *
 * @param {readonly string[]} types
 * @param {string} [end] behind several lines
 */
function union(types, end = '') {
  const line = types.join(' | ');
  if (types.length === 1 || line.length <= 80) return line;
  return `${types.map((type) => `\n  | ${indented(type)}`).join('')}${end}`;
}

/**
 * The type of objects.
 *
 * @param {Readonly<Record<string, Json>>} properties
 * @param {readonly string[]} [required]
 * @param {ReadonlyMap<string, string[]>} [formats]
 */
export function objectType(properties, required = [], formats) {
  const members = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?';
    return `${comment(schema)}readonly ${key(name)}${mark}: ${typeOf(schema, formats)};`;
  });
  return block(members);
}

/**
 * @param {readonly string[]} members
 * @returns {string} them in braces, one below the other
 */
export function block(members) {
  return `{\n  ${indented(members.join('\n'))}\n}`;
}

/**
 * A property name in a declaration.
 *
 * @param {string} name
 */
export function key(name) {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : literal(name);
}

/**
 * Reads a property.
 *
 * @param {string} name
 */
export function member(name) {
  return key(name) === name ? `.${name}` : `[${literal(name)}]`;
}

/**
 * A value in TypeScript, a text in single quotes.
 *
 * @param {unknown} value
 * @returns {string}
 */
export function literal(value) {
  const json = JSON.stringify(value);
  if (typeof value !== 'string') return json;
  return `'${json.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/**
 * A text whose lines, but the first, are moved to the right.
 *
 * @param {string} text
 */
function indented(text) {
  return text.replace(/\n(?=[^\n])/g, '\n  ');
}

/**
 * What an editor shows for a property, on lines of its own.
 *
 * @param {Json} schema
 */
function comment({ description, examples = [] }) {
  const [example] = examples;
  const shown = typeof example === 'string' ? example : JSON.stringify(example);
  const texts = [description, ...(example === undefined ? [] : [`@example ${shown}`])];
  const lines = texts.flatMap((text) => text?.replaceAll('*/', '*\\/').split(/\s*\n/) ?? []);
  if (lines.length === 0) return '';
  return lines.length === 1
    ? `/** ${lines[0]} */\n`
    : `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`;
}
