import { isArrayType } from '@catalogue/server/generator';
import { format, resolveConfig } from 'prettier';
import { isFiltered, isIndexed, isNatural, TIMES } from '../fields.js';

/**
 * A resource to be written.
 *
 * @typedef {import('../fields.js').Field} Field
 * @typedef {ReturnType<typeof describe>} Resource
 *
 * @typedef {object} ResourceParts
 * @property {import('../names.js').Names} names
 * @property {ReadonlyMap<string, Target>} targets the resources that it refers to, by name
 * @property {External} [external] the external table that it lists. Absent: it has one of its own
 *
 * @typedef {object} External an external table
 * @property {string} schema
 * @property {string} name
 * @property {number} keyLength maximum characters of an identifier that is a text
 *
 * @typedef {object} Target a resource that a reference refers to
 * @property {string} entity its class
 * @property {string} module the path from which the new entity imports the class; empty for itself
 * @property {string} identifier
 * @property {import('../fields.js').IdentifierType} identifierType
 * @property {readonly string[]} enums the PostgreSQL types of its enumerations
 * @property {string} [parent] the column that refers to the resource itself, which makes it a tree
 * @property {boolean} isExternal whether it lists an external table
 */

/** What is described of a resource, and what follows from it. @param {import('../fields.js').Fields & ResourceParts} resource */
export function describe(resource) {
  const { identifier, fields, times, targets, external } = resource;
  const all = [...fields, ...times];
  const references = fields.filter(({ type }) => type === 'reference');
  const filtered = all.filter(({ flags }) => isFiltered(flags));
  const words = fields.filter(({ flags }) => flags.has('words'));
  const codes = words.filter(({ flags }) => isFiltered(flags));
  // The title first. Of a long text, the words that it begins with are searched: codes come before it.
  const title = words.find(({ flags }) => flags.has('sort')) ?? words[0];
  const searched = [
    ...new Set([
      ...(title ? [title.name] : []),
      ...(resource.isKeySearched ? [identifier] : []),
      ...fieldNames([...codes, ...words]),
    ]),
  ];
  const searchedColumns = searched.length > 0 ? ['words'] : [];
  return {
    ...resource,
    enums: fields.filter(({ type }) => type === 'enum'),
    /** The fields that are searched for words. */
    searched,
    /** Those that an index finds if a search is their whole text. */
    searchedWhole: fieldNames(codes),
    /** The column that has their words. */
    searchedColumns,
    /** The columns that filters compare. */
    filteredColumns: external ? [] : fieldNames(filtered.filter(({ type }) => !isArrayType(type))),
    /** The columns that lists are sorted by and that need an index and a tally for it. */
    sortedColumns: external ? [] : fieldNames(all, 'sort'),
    /** The fields that lists are sorted by in the natural order. */
    naturalFields: external ? [] : fields.filter(isNatural),
    /** The columns whose values the tally counts. */
    countedColumns: fieldNames(fields, 'counted'),
    /** The columns that have a gin index: filtered arrays, and the words of texts. */
    ginColumns: external
      ? []
      : [...fieldNames(filtered.filter(({ type }) => isArrayType(type))), ...searchedColumns],
    /**
     * The references that no filter and no sort has an index for. PostgreSQL looks for them when an object that they
     * refer to is deleted.
     */
    unlistedReferences: fieldNames(references.filter(({ flags }) => !isIndexed(flags))),
    /** The references whose objects lists include: the object is called as the field without `ID`. */
    included: fieldNames(references).filter((name) => {
      const related = /^(.+?)(?:ID|Id|_id)$/.exec(name)?.[1];
      return (
        related !== undefined && ![identifier, ...fieldNames(fields), ...TIMES].includes(related)
      );
    }),
    /** The conditions that the columns must meet. JSON has neither NaN nor infinity. */
    checks: fieldNames(fields.filter(({ type }) => type === 'double' && !external)).map(
      (name) => `"${name}" > '-Infinity' AND "${name}" < 'Infinity'`,
    ),
    /** The fields that `sort` accepts. */
    sorts: [identifier, ...fieldNames(all, 'sort')],
    /** The fields that refer to a tree. */
    trees: references.filter(({ resource: of = '' }) => targets.get(of)?.parent),
    tree: treeFilter(resource),
  };
}

/**
 * The filter by a tree: the column that it compares, the resource that is the tree, and the columns that it reads.
 *
 * @param {import('../fields.js').Fields & ResourceParts} resource
 */
function treeFilter({ identifier, names, fields, targets }) {
  const field = fields.find(({ flags }) => flags.has('tree'));
  const of = field?.resource ?? '';
  const target = targets.get(of);
  if (!field || !target) return undefined;
  return of === names.resource
    ? { column: identifier, of, target, reads: [field.name] }
    : { column: field.name, of, target, reads: [field.name, `${of}.${target.parent}`] };
}

/** The names of the fields, or of those with a flag. @type {(fields: readonly Field[], flag?: import('../fields.js').Flag) => string[]} */
const fieldNames = (fields, flag) =>
  fields.filter(({ flags }) => flag === undefined || flags.has(flag)).map(({ name }) => name);

/** String literals in single quotes, separated by commas. @type {(...texts: string[]) => string} */
export const quoted = (...texts) => texts.map((text) => `'${text}'`).join(', ');

/** `name and description`, `a, b and c`. @type {(words: readonly string[]) => string} */
export const listed = (words) =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;

/** TypeScript in the format of the project, whose folder the generator runs in. @param {string} text */
export async function formatted(text) {
  return format(text, { ...(await resolveConfig('src/app.module.ts')), parser: 'typescript' });
}
