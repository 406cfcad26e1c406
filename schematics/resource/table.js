import { spawn } from 'node:child_process';
import { checkField, checkIdentifier, checkParameters } from './fields.js';
import { GeneratorError } from './generator-error.js';

/**
 * @typedef {import('./fields.js').Field} Field
 * @typedef {import('./fields.js').IdentifierType} IdentifierType
 * @typedef {import('../../src/resource/column-types.js').Flag} Flag
 *
 * @typedef {object} TableOptions
 * @property {string} fromTable as in SQL: `sales.items`
 * @property {string} [key] the column that identifies
 * @property {string} [omit] columns, separated by commas
 * @property {string} [indexed] columns, separated by commas
 * @property {boolean} [track] whether triggers of the service count its rows
 * @property {string} [counted] columns, separated by commas
 *
 * A column as `catalogue describe` prints it.
 *
 * @typedef {object} DescribedColumn
 * @property {string} name
 * @property {Field['type']} type
 * @property {number | null} length
 * @property {readonly string[] | null} values
 * @property {readonly Flag[]} flags
 *
 * A table as `catalogue describe` prints it.
 *
 * @typedef {object} DescribedTable
 * @property {string} schema
 * @property {string} name
 * @property {string} kind
 * @property {boolean} tracked
 * @property {DescribedColumn} key
 * @property {readonly DescribedColumn[]} columns
 */

/**
 * What a resource has over an existing table in the database of the settings.
 *
 * @param {TableOptions} options
 * @returns {Promise<import('./fields.js').Fields & { external: import('./write/resource.js').External }>}
 * @throws {GeneratorError} if it cannot be listed
 */
export async function tableFields({ fromTable, key, omit, indexed, track, counted }) {
  const options = Object.entries({ key, omit, indexed, counted }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  );
  if (track) options.push('--track');
  const text = await catalogue(['describe', ...options, '--', fromTable]);
  const {
    schema,
    name,
    kind,
    tracked,
    key: identifying,
    columns,
  } = /** @type {DescribedTable} */ (JSON.parse(text));
  const own = columns.map(fieldOf);
  for (const { name: field } of [identifying, ...own]) checkField(field);
  checkIdentifier(identifying.name);
  checkParameters(identifying.name, own);
  const type = identifying.type === 'text' ? 'text' : identifying.type;
  return {
    identifier: identifying.name,
    identifierType: /** @type {IdentifierType} */ (type),
    own,
    times: [],
    external: { schema, name, kind, tracked, keyLength: identifying.length ?? Infinity },
  };
}

/**
 * @param {DescribedColumn} column
 * @returns {Field}
 */
function fieldOf({ name, type, length, values, flags }) {
  return {
    name,
    type,
    length: length ?? Infinity,
    ...(values === null ? {} : { values }),
    flags: new Set(flags),
  };
}

/**
 * Runs a command of the service, built from its sources, and gives what it prints.
 *
 * @param {readonly string[]} args
 * @returns {Promise<string>}
 */
function catalogue(args) {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '-s', 'catalogue', '--', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (/** @type {Buffer} */ chunk) => (output += chunk.toString()));
    child.stderr.on('data', (/** @type {Buffer} */ chunk) => (errors += chunk.toString()));
    child.once('error', reject);
    child.once('close', (status) => {
      if (status === 0) return resolve(output);
      const line = errors.split('\n').find((each) => each.startsWith('catalogue: '));
      reject(new GeneratorError(line?.replace('catalogue: ', '') ?? errors.trim()));
    });
  });
}
