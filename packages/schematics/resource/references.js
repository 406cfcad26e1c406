import pluralize from 'pluralize';
import { isReferenceName } from './column.js';
import { snakeOf } from './names.js';

/**
 * @typedef {import('./column.js').Column} Column
 * @typedef {import('./column.js').Reference} Reference
 * @typedef {import('./write/resource.js').Target} Target
 */

/** Usual names of an identifier, which say nothing of the resource. */
export const IDENTIFIERS = /^(_?id|key|code|sku|slug|uuid|number)$/i;
/** The names of references to the resource itself. */
const PARENT = /^parent[ _-]?(id|code|key)?$/i;

/**
 * The resource that a column refers to, by its name: the one that is called like it without `ID`, or whose identifier is.
 *
 * @param {Column} column
 * @param {{ own: string, identifier: Column | undefined, resources: ReadonlyMap<string, Target> }} file `own` is the
 * resource of the rows, `identifier` its column if they have one
 * @returns {Reference | undefined}
 */
export function referenceOf(column, { own, identifier, resources }) {
  const { name } = column;
  if (column === identifier || column.values === 0) return undefined;
  const isParent = PARENT.test(name) || resourceNamed(name, [own]) === own;
  if (isParent && identifier) {
    // A file in which all refer to something, or to what is not in it, cannot be a tree by itself.
    const isOwn =
      column.nullable && [...column.distinct].every((value) => identifier.distinct.has(value));
    return isOwn ? { resource: own, isOwn, isTree: true } : undefined;
  }
  const others = [...resources].filter(([, { isExternal }]) => !isExternal);
  const identified = others.find(
    ([, target]) => !IDENTIFIERS.test(target.identifier) && bare(target.identifier) === bare(name),
  );
  const names = others.map(([resource]) => resource);
  const resource = identified?.[0] ?? resourceNamed(name, names);
  const target = resources.get(resource ?? '');
  if (resource === undefined || !target) return undefined;
  const { identifierType } = target;
  const fits = identifierType === 'text' ? column.isKey : column.canBe(identifierType);
  return fits ? { resource, isOwn: false, isTree: target.parent !== undefined } : undefined;
}

/** The resource that `theme_id` or `part_cat_id` names. @type {(column: string, resources: readonly string[]) => string | undefined} */
function resourceNamed(column, resources) {
  if (!isReferenceName(column)) return undefined;
  const one = snakeOf(column.replace(/_?id$/i, ''));
  const plural = pluralize.plural(one);
  if (resources.includes(plural)) return plural;
  // The last word may be shortened.
  const words = one.split('_');
  const longer = resources.filter(
    (name) =>
      (words.at(-1) ?? '').length > 2 &&
      name.startsWith(one) &&
      name.split('_').length === words.length,
  );
  return longer.length === 1 ? longer[0] : undefined;
}

/** A name without what ways to write it differ in. @type {(name: string) => string} */
export const bare = (name) => name.replace(/[^A-Za-z0-9]/g, '').toLowerCase();
