/**
 * All that is known of a resource to be written.
 *
 * @typedef {object} Resource
 * @property {import('../names.js').Names} names
 * @property {string} identifier
 * @property {readonly import('../fields.js').Field[]} fields its own, without the times
 * @property {readonly import('../fields.js').Field[]} times what `createdAt` and `updatedAt` are used for
 * @property {ReadonlyMap<string, Target>} targets of its references, by resource
 */

/**
 * A resource that is named by a reference.
 *
 * @typedef {object} Target
 * @property {string} entity its class
 * @property {string} module of the class, as the new entity imports it
 * @property {string} identifier
 * @property {string} word what one of its objects is called
 * @property {readonly string[]} enums the types of its enumerations
 */

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
 * The columns that an index must lead with, for a filter, a sort or a reference. `updatedAt` is
 * among them, for those who follow what changes.
 *
 * @param {Resource} resource
 * @returns {string[]}
 */
export function indexedColumns({ fields, times }) {
  const named = [...fields, ...times]
    .filter(
      ({ type, flags }) =>
        type === 'reference' ||
        ['exact', 'several', 'range', 'sort'].some((flag) =>
          flags.has(/** @type {import('../fields.js').Flag} */ (flag)),
        ),
    )
    .map(({ name }) => name);
  return [...new Set([...named, 'updatedAt'])];
}

/**
 * The columns of which the tally counts each value.
 *
 * @param {Resource} resource
 * @returns {string[]}
 */
export function countedColumns({ fields }) {
  return fields.filter(({ flags }) => flags.has('counted')).map(({ name }) => name);
}

/**
 * The names that `sort` may hold.
 *
 * @param {Resource} resource
 * @returns {string[]}
 */
export function sorts({ identifier, fields, times }) {
  const sorted = [...fields, ...times].filter(({ flags }) => flags.has('sort'));
  return [identifier, ...sorted.map(({ name }) => name)];
}

/**
 * A JavaScript text in single quotes.
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
