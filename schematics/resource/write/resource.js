import { COLUMN_TYPES, identifierFacts } from '../../../src/resource/column-types.js';
import { isFiltered, isIndexed } from '../fields.js';

/**
 * A resource to be written.
 *
 * @typedef {import('../fields.js').Field} Field
 * @typedef {import('../fields.js').Fields & ResourceParts} Resource
 *
 * @typedef {object} ResourceParts
 * @property {import('../names.js').Names} names
 * @property {ReadonlyMap<string, Target>} targets the resources that it refers to, by name
 * @property {External} [external] the table of others that it lists. Absent: it has one of its own
 *
 * @typedef {object} External a table of others
 * @property {string} schema
 * @property {string} name
 * @property {boolean} tracked whether triggers of the service count its rows
 * @property {number} keyLength maximum characters of an identifier that is a text
 *
 * @typedef {object} Target a resource that a reference refers to
 * @property {string} entity its class
 * @property {string} module the path from which the new entity imports the class; empty for itself
 * @property {string} identifier
 * @property {import('../fields.js').IdentifierType} identifierType
 * @property {readonly string[]} enums the PostgreSQL types of its enumerations
 * @property {boolean} isTree whether it refers to itself
 * @property {boolean} isExternal whether it lists a table of others
 * @property {boolean} isTracked whether it does, and triggers count its rows
 *
 * @typedef {(resource: Resource) => string[]} NamesOf
 */

/**
 * The type of a field's column. That of a reference is the type of the identifier that it refers to.
 *
 * @param {Pick<Resource, 'targets'>} resource
 * @param {Field} field
 */
export function columnTypeOf({ targets }, { type, resource = '' }) {
  return type === 'reference'
    ? identifierFacts(targets.get(resource)?.identifierType ?? 'text')
    : COLUMN_TYPES[type];
}

/** The conditions that the columns must meet. JSON has neither NaN nor infinity. @type {NamesOf} */
export const checksOf = ({ fields, external }) =>
  external
    ? []
    : fields
        .filter(({ type }) => type === 'double')
        .map(({ name }) => `"${name}" > '-Infinity' AND "${name}" < 'Infinity'`);

/** The fields that are searched for words. @type {NamesOf} */
export const searchedFields = ({ fields }) => namesWith(fields, 'words');

/** The column that has their words. @type {NamesOf} */
export const searchedColumns = (resource) => (searchedFields(resource).length > 0 ? ['words'] : []);

/** The columns that filters compare. @type {NamesOf} */
export const filteredColumns = ({ fields, times, external }) =>
  external
    ? []
    : [...fields, ...times]
        .filter((field) => isFiltered(field.flags) && !isArray(field))
        .map(({ name }) => name);

/** Whether the values of a field are arrays, whose items a gin index finds. @type {(field: Field) => boolean} */
export const isArray = ({ type }) => type === 'texts' || type === 'integers';

/** The columns that have a gin index: filtered arrays, and the words of texts. @type {NamesOf} */
export function ginColumns(resource) {
  if (resource.external) return [];
  const arrays = resource.fields.filter((field) => isFiltered(field.flags) && isArray(field));
  return [...arrays.map(({ name }) => name), ...searchedColumns(resource)];
}

/** The columns that lists are sorted by and that need an index and a tally for it. @type {NamesOf} */
export const sortedColumns = ({ fields, times, external }) =>
  external ? [] : namesWith([...fields, ...times], 'sort');

/**
 * The references that no filter and no sort has an index for. PostgreSQL looks for them when an object that they
 * refer to is deleted.
 *
 * @type {NamesOf}
 */
export const unlistedReferences = ({ fields }) =>
  fields
    .filter(({ type, flags }) => type === 'reference' && !isIndexed(flags))
    .map(({ name }) => name);

/** The references whose objects lists include: the object is called as the field without `ID`. @type {NamesOf} */
export function includedReferences({ identifier, fields }) {
  const taken = [identifier, ...fields.map(({ name }) => name), 'createdAt', 'updatedAt'];
  const references = fields.filter(({ type }) => type === 'reference').map(({ name }) => name);
  return references.filter((name) => {
    const related = /^(.+?)(?:ID|Id|_id)$/.exec(name)?.[1];
    return related !== undefined && !taken.includes(related);
  });
}

/** The fields that refer to a tree. @type {(resource: Resource) => Field[]} */
export const trees = ({ fields, targets }) =>
  fields.filter(({ resource = '' }) => targets.get(resource)?.isTree);

/**
 * The filter by a tree: the column that it compares, and the resource that is the tree.
 *
 * @param {Resource} resource
 */
export function treeFilter({ identifier, names, fields, targets }) {
  const field = fields.find(({ flags }) => flags.has('tree'));
  const of = field?.resource ?? '';
  const target = targets.get(of);
  if (!field || !target) return undefined;
  return { column: of === names.resource ? identifier : field.name, of, target };
}

/** The columns whose values the tally counts. @type {NamesOf} */
export const countedColumns = ({ fields }) => namesWith(fields, 'counted');

/** The fields that `sort` accepts. @type {NamesOf} */
export const sorts = ({ identifier, fields, times }) => [
  identifier,
  ...namesWith([...fields, ...times], 'sort'),
];

/** @type {(fields: readonly Field[], flag: import('../fields.js').Flag) => string[]} */
const namesWith = (fields, flag) =>
  fields.filter(({ flags }) => flags.has(flag)).map(({ name }) => name);

/** String literals in single quotes, separated by commas. @type {(...texts: string[]) => string} */
export const quoted = (...texts) => texts.map((text) => `'${text}'`).join(', ');

/** `name and description`, `a, b and c`. @type {(words: readonly string[]) => string} */
export const listed = (words) =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;
