import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { identifierColumn, textBytes } from './column-types.js';

/**
 * The indexes of a resource's lists. They follow from the columns that lists filter and sort by.
 *
 * This file is JavaScript because the generator runs from a checkout without a build.
 */

/**
 * @typedef {object} IndexedColumn
 * @property {string} name its name in the database
 * @property {number} bytes maximum bytes of a value in an index, with padding
 *
 * @typedef {object} ListTable
 * @property {string} table
 * @property {IndexedColumn} identifier
 * @property {readonly IndexedColumn[]} filtered the columns that filters compare
 * @property {readonly IndexedColumn[]} sorted the columns that lists are sorted by
 *
 * @typedef {object} ListIndex
 * @property {string} name
 * @property {string} columns what follows `USING btree` in CREATE INDEX
 */

/**
 * Maximum bytes of the values of an index row: a third of a page, without the header of the row.
 * https://www.postgresql.org/docs/current/btree.html
 */
const MAXIMUM_BYTES = 2688;

/** Maximum bytes of a name in PostgreSQL. */
const MAXIMUM_NAME = 63;

/**
 * The indexes of a resource's lists: by identifier, and by each filtered and each sorted column. Read backwards,
 * they serve the descending order. Each carries the other filtered columns, so that
 * PostgreSQL evaluates a combination of filters within the index.
 *
 * @param {ListTable} resource
 * @returns {ListIndex[]}
 */
export function listIndexes({ table, ...resource }) {
  const { identifier } = resource;
  return (
    indexedColumns(resource)
      // Without carried columns, the index by identifier would be the primary key.
      .filter(({ first, carried }) => first !== identifier.name || carried.length > 0)
      .map(({ first, keys, carried }) => ({
        name: indexName(table, first),
        columns: `(${names(keys)})${carried.length === 0 ? '' : ` INCLUDE (${names(carried)})`}`,
      }))
  );
}

/**
 * The columns by which each index finds objects, with the name of the first one, and those that it carries.
 *
 * @param {Pick<ListTable, 'identifier' | 'filtered' | 'sorted'>} resource
 */
export function indexedColumns({ identifier, filtered, sorted }) {
  const columns = new Map([identifier, ...filtered, ...sorted].map((each) => [each.name, each]));
  return [...columns.values()].map((column) => {
    const keys = column.name === identifier.name ? [column] : [column, identifier];
    return { first: column.name, keys, carried: carriedColumns(keys, filtered) };
  });
}

/** @param {string} table */
export function listIndexPrefix(table) {
  return `${table}_by_`;
}

/**
 * @param {string} table
 * @param {ListIndex} index
 */
export function createIndex(table, { name, columns }) {
  return `CREATE INDEX ${quoted(name)} ON ${quoted(table)} ${columns}`;
}

/**
 * The filtered columns that an index carries beside its key, in the order declared. A column whose
 * values are longer than identifiers is not carried, since it would multiply the size of the indexes.
 * Neither is a column with which a row of the index could exceed PostgreSQL's maximum.
 *
 * @param {readonly IndexedColumn[]} keys
 * @param {readonly IndexedColumn[]} filtered
 */
function carriedColumns(keys, filtered) {
  let available = MAXIMUM_BYTES - keys.reduce((sum, { bytes }) => sum + bytes, 0);
  return filtered.filter(({ name, bytes }) => {
    if (keys.some((key) => key.name === name)) return false;
    if (bytes > textBytes(identifierColumn.length) || bytes > available) return false;
    available -= bytes;
    return true;
  });
}

/** @param {readonly IndexedColumn[]} columns */
function names(columns) {
  return columns.map(({ name }) => quoted(name)).join(', ');
}

/**
 * The name of an index, with a hash in place of a column whose name is too long.
 *
 * @param {string} table
 * @param {string} column
 */
function indexName(table, column) {
  const name = `${listIndexPrefix(table)}${column}`;
  if (Buffer.byteLength(name) <= MAXIMUM_NAME) return name;
  const hash = createHash('sha256').update(column).digest('hex').slice(0, 12);
  return `${listIndexPrefix(table)}${hash}`;
}

/** @param {string} name */
function quoted(name) {
  return `"${name}"`;
}
