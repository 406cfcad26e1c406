import { COLUMN_TYPES, identifierFacts } from '../../../src/resource/column-types.js';
import { isFiltered, isIndexed } from '../fields.js';

/**
 * A resource to be written.
 *
 * @typedef {object} Resource
 * @property {import('../names.js').Names} names
 * @property {string} identifier
 * @property {import('../fields.js').IdentifierType} identifierType
 * @property {readonly import('../fields.js').Field[]} fields all but the identifier and the times
 * @property {readonly import('../fields.js').Field[]} times `createdAt` and `updatedAt`, if they are filtered or sorted by
 * @property {ReadonlyMap<string, Target>} targets the resources that it refers to, by name
 * @property {ReadonlyMap<string, import('../shape.js').SampledShape>} shapes of fields in JSON, by field
 * @property {External} [external] the table of others that it lists. Absent: it has one of its own
 */

/**
 * A table of others.
 *
 * @typedef {object} External
 * @property {string} schema
 * @property {string} name
 * @property {string} kind `table`, `view` or the like
 * @property {boolean} tracked whether triggers of the service count its rows
 * @property {number} keyLength maximum characters of an identifier that is a text
 */

/**
 * A resource that a reference refers to.
 *
 * @typedef {object} Target
 * @property {string} entity its class
 * @property {string} module the path from which the new entity imports the class; empty for itself
 * @property {string} identifier
 * @property {import('../fields.js').IdentifierType} identifierType
 * @property {string} word the singular of its name
 * @property {readonly string[]} enums the PostgreSQL types of its enumerations
 * @property {boolean} isTree whether it refers to itself
 * @property {boolean} isExternal whether it lists a table of others
 * @property {boolean} isTracked whether it does, and triggers count its rows
 */

/**
 * The type of a field's column. That of a reference is the type of the identifier that it refers to.
 *
 * @param {Pick<Resource, 'targets'>} resource
 * @param {import('../fields.js').Field} field
 */
export function columnTypeOf({ targets }, { type, resource = '' }) {
  return type === 'reference'
    ? identifierFacts(targets.get(resource)?.identifierType ?? 'text')
    : COLUMN_TYPES[type];
}

/**
 * The conditions that the columns must meet. JSON has neither NaN nor infinity.
 *
 * @param {Resource} resource
 * @returns {string[]}
 */
export function checksOf({ fields, external }) {
  if (external) return [];
  return fields
    .filter(({ type }) => type === 'double')
    .map(({ name }) => `"${name}" > '-Infinity' AND "${name}" < 'Infinity'`);
}

/**
 * The fields that are searched for words.
 *
 * @param {Resource} resource
 * @returns {string[]}
 */
export function searchedFields({ fields }) {
  return fields.filter(({ flags }) => flags.has('words')).map(({ name }) => name);
}

/**
 * The column that has their words.
 *
 * @param {Resource} resource
 */
export function searchedColumns(resource) {
  return searchedFields(resource).length > 0 ? ['words'] : [];
}

/**
 * The columns that filters compare.
 *
 * @param {Resource} resource
 * @returns {string[]}
 */
export function filteredColumns({ fields, times, external }) {
  if (external) return [];
  return [...fields, ...times]
    .filter((field) => isFiltered(field.flags) && !isArray(field))
    .map(({ name }) => name);
}

/**
 * Whether the values of a field are arrays, whose items a gin index finds.
 *
 * @param {import('../fields.js').Field} field
 */
export function isArray({ type }) {
  return type === 'texts' || type === 'integers';
}

/**
 * The columns that have a gin index: filtered arrays, and the words of texts.
 *
 * @param {Resource} resource
 * @returns {string[]}
 */
export function ginColumns(resource) {
  if (resource.external) return [];
  const arrays = resource.fields.filter((field) => isFiltered(field.flags) && isArray(field));
  return [...arrays.map(({ name }) => name), ...searchedColumns(resource)];
}

/**
 * The columns that lists are sorted by, besides the identifier, and that need an index and a tally for it.
 *
 * @param {Resource} resource
 * @returns {string[]}
 */
export function sortedColumns({ fields, times, external }) {
  return external ? [] : sortedFields([...fields, ...times]);
}

/**
 * The references that no filter and no sort has an index for. PostgreSQL looks for them when an object
 * that they refer to is deleted.
 *
 * @param {Resource} resource
 * @returns {string[]}
 */
export function unlistedReferences({ fields }) {
  return fields
    .filter(({ type, flags }) => type === 'reference' && !isIndexed(flags))
    .map(({ name }) => name);
}

/**
 * The references whose objects lists and single objects may include: the name of the object is that of the field without `ID`.
 *
 * @param {Resource} resource
 * @returns {import('../fields.js').Field[]}
 */
export function includedReferences({ identifier, fields }) {
  const taken = [identifier, ...fields.map(({ name }) => name), 'createdAt', 'updatedAt'];
  return fields.filter(({ name, type }) => {
    const related = /^(.+?)(?:ID|Id|_id)$/.exec(name)?.[1];
    return type === 'reference' && related !== undefined && !taken.includes(related);
  });
}

/**
 * The filter by a tree.
 *
 * @param {Resource} resource
 * @returns {{ column: string, of: string, target: Target } | undefined} the column that it compares, and the
 * resource that is the tree
 */
export function treeFilter({ identifier, names, fields, targets }) {
  const field = fields.find(({ flags }) => flags.has('tree'));
  const target = targets.get(field?.resource ?? '');
  if (!field || !target) return undefined;
  const of = field.resource ?? '';
  return { column: of === names.resource ? identifier : field.name, of, target };
}

/**
 * The columns whose values the tally counts.
 *
 * @param {Resource} resource
 * @returns {string[]}
 */
export function countedColumns({ fields }) {
  return fields.filter(({ flags }) => flags.has('counted')).map(({ name }) => name);
}

/**
 * The fields that `sort` accepts.
 *
 * @param {Resource} resource
 * @returns {string[]}
 */
export function sorts({ identifier, fields, times }) {
  return [identifier, ...sortedFields([...fields, ...times])];
}

/** @param {readonly import('../fields.js').Field[]} fields */
function sortedFields(fields) {
  return fields.filter(({ flags }) => flags.has('sort')).map(({ name }) => name);
}

/**
 * A string literal in single quotes.
 *
 * @param {string} text
 */
export function quoted(text) {
  return `'${text}'`;
}

/**
 * `name and description`, `a, b and c`.
 *
 * @param {readonly string[]} words
 */
export function listed(words) {
  return words.length < 2
    ? words.join('')
    : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;
}
