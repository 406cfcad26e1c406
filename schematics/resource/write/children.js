import { GeneratorError } from '../generator-error.js';
import { formatted } from './formatted.js';

/** The decorator of a query class, with its entity and what is in the braces of its options. */
const QUERY = /@QueryOf\((\w+)(?:, \{([^@]*?)\})?\)(?=\s*(?:@|export|class))/g;

/**
 * Lets the lists of a parent include the objects of a new resource.
 *
 * @param {import('@angular-devkit/schematics').Tree} tree
 * @param {import('./resource.js').Target} parent
 * @param {import('../names.js').Names} names of the new resource
 * @throws {GeneratorError} if the query classes of the parent are written in another way than the generator does
 */
export async function addChildren(tree, { entity: parent, module }, names) {
  const { resource, entity, folder, file } = names;
  const columns = tree.readText(module.replace(/^\.\.(.*)js$/, '/src$1ts'));
  // Children are called as their resource is.
  const taken = [resource, `${resource}Count`].find((name) => columns.includes(` ${name}!: `));
  if (taken !== undefined) {
    throw new GeneratorError(`${parent} cannot include ${resource}: it has a field ${taken}`);
  }
  const path = module.replace(/^\.\.\/(.*)\/.*$/, '/src/$1/list-$1.dto.ts');
  const text = tree.exists(path) ? tree.readText(path) : '';
  const entry = `children(${entity})`;
  const edited = including(text, (entries, of) =>
    of === parent ? joined(entries, entry) : entries,
  )
    .replace(/^(import \{(?![^}]*\bchildren\b)[^}]*\bQueryOf\b[^}]*?),?\s*\}/m, '$1, children }')
    .replace(
      new RegExp(`^import \\{[^}]*\\b${parent}\\b`, 'm'),
      `import { ${entity} } from '../${folder}/${file}.entity.js';\n$&`,
    );
  const queries = text.match(new RegExp(`@QueryOf\\(\\s*${parent}\\b`, 'g')) ?? [];
  const isEdited = queries.length > 0 && edited.split(entry).length === queries.length + 1;
  const isTaken = new RegExp(`\\b${entity}\\b`).test(text);
  // Of what is written in another way, there may be no TypeScript left.
  const written = isEdited && !isTaken ? await formatted(edited).catch(() => '') : '';
  if (written === '') {
    const why = text === '' ? 'is not there' : 'is not as it would be generated';
    throw new GeneratorError(
      `${path.slice(1)} ${why}: leave out the flag children, and write ${entry} into include of each @QueryOf(${parent})`,
    );
  }
  tree.overwrite(path, written);
}

/**
 * The text of a file that does not include an entity as children any more; as it is if it also names the entity for
 * something else.
 *
 * @type {(text: string, entity: string) => Promise<string>}
 */
export async function withoutChildren(text, entity) {
  const entry = new RegExp(`\\bchildren\\(${entity}\\b[^)]*\\),?\\s*`);
  const rest = including(text, (entries) => entries.replace(entry, '')).replace(
    new RegExp(`^import \\{ ${entity} \\} .*\\n`, 'm'),
    '',
  );
  if (new RegExp(`\\b${entity}\\b`).test(rest)) return text;
  const isUsed = /\bchildren\(/.test(rest);
  const edited = isUsed ? rest : rest.replace(/^(import \{[^}]*)\bchildren\b,?/m, '$1');
  return formatted(edited).catch(() => text);
}

/**
 * The text of query classes after a change of the entries of `include`. A class stays as it is where these are not in an
 * array.
 *
 * @type {(text: string, change: (entries: string, entity: string) => string) => string}
 */
const including = (text, change) =>
  text.replace(QUERY, (query, /** @type {string} */ entity, options = '') => {
    const [include = '', entries = ''] = /\binclude: \[(.*?)\],?/s.exec(options) ?? [];
    const others = options.replace(include, '');
    const changed = change(entries, entity);
    if (changed === entries || /\binclude\b|\.\.\./.test(others)) return query;
    const all = joined(others, changed.trim() && `include: [${changed}]`);
    return `@QueryOf(${entity}${all && `, { ${all} }`})`;
  });

/** Parts of a list, with commas between them. @type {(...parts: string[]) => string} */
const joined = (...parts) =>
  parts.flatMap((part) => part.trim().replace(/,$/, '') || []).join(', ');
