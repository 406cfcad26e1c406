import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { checkParameters } from './fields.js';
import { GeneratorError } from './generator-error.js';

/**
 * @typedef {import('./fields.js').Field} Field
 *
 * @typedef {{ fromTable: string } & Partial<Record<Columns, string>>} TableOptions `fromTable` is a table as in SQL, the
 * others are columns, by commas
 * @typedef {'key' | 'omit' | 'indexed'} Columns
 *
 * A table as `catalogue describe` prints it.
 *
 * @typedef {object} DescribedColumn
 * @property {string} name
 * @property {Field['type']} type
 * @property {number | null} length
 * @property {readonly string[] | null} values
 * @property {readonly import('./fields.js').Flag[]} flags
 *
 * @typedef {object} DescribedTable
 * @property {string} schema
 * @property {string} name
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
export async function tableFields({ fromTable, ...columns }) {
  const options = Object.entries(columns).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  );
  const text = await catalogue(['describe', ...options, '--', fromTable]);
  const { schema, name, key, ...table } = /** @type {DescribedTable} */ (JSON.parse(text));
  const fields = table.columns.map(({ length, values, flags, ...column }) => ({
    ...column,
    length: length ?? Infinity,
    ...(values && { values }),
    flags: new Set(flags),
  }));
  checkParameters(key.name, fields);
  return {
    identifier: key.name,
    identifierType: /** @type {import('./fields.js').IdentifierType} */ (key.type),
    fields,
    times: [],
    external: { schema, name, keyLength: key.length ?? Infinity },
  };
}

/** What a command of the service prints. @type {(args: string[]) => Promise<string>} */
async function catalogue(args) {
  try {
    const { stdout } = await promisify(execFile)('npm', ['run', '-s', 'catalogue', '--', ...args]);
    return stdout;
  } catch (error) {
    const { stderr, message } = /** @type {{ stderr: string, message: string }} */ (error);
    const line = /^catalogue: (.*)/m.exec(stderr)?.[1];
    throw new GeneratorError(line ?? message);
  }
}
