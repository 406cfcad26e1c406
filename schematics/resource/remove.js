import { GeneratorError } from './generator-error.js';
import { existingResources } from './targets.js';
import { formatted } from './write/formatted.js';
import { removal } from './write/removal.js';
import { untracking } from './write/tracking.js';

/**
 * Removes the files of a resource and its module's line, and writes the migration that drops its table, or the
 * triggers on a table of others.
 *
 * @param {import('@angular-devkit/schematics').Tree} tree
 * @param {import('./names.js').Names} names
 * @param {string} appModule the path of the application's module
 * @returns {Promise<import('./write/resource.js').Target>} what it was
 * @throws {GeneratorError} if there is no such resource, or if other files use it
 */
export async function removeResource(tree, names, appModule) {
  const { resource, folder, plural } = names;
  const target = existingResources(tree).get(resource);
  const directory = `/src/${folder}`;
  const module = `${plural}Module`;
  const text = tree.readText(appModule);
  const line = new RegExp(`^import \\{ ${module} \\} from '\\./${folder}/.*\\n`, 'm');
  if (!target?.module.startsWith(`../${folder}/`) || !line.test(text)) {
    throw new GeneratorError(
      `There is no resource ${resource} in src/${folder} that is imported as ${module}`,
    );
  }
  const spec = `/test/${folder}.spec.ts`;
  const kept = [appModule, spec];
  const users = filesOf(tree).filter(
    (path) =>
      !path.startsWith(`${directory}/`) &&
      !kept.includes(path) &&
      new RegExp(`from '[./]*(src/)?${folder}/`).test(tree.readText(path)),
  );
  if (users.length > 0) {
    const paths = users.map((path) => path.slice(1)).join(', ');
    throw new GeneratorError(`${resource} is used by ${paths}: remove that first`);
  }
  tree.delete(directory);
  if (tree.exists(spec)) tree.delete(spec);
  const without = text.replace(line, '').replace(new RegExp(`\\n?[ ]*\\b${module}\\b,?`), '');
  tree.overwrite(appModule, await formatted(without));
  const { isExternal, isTracked } = target;
  if (isExternal && !isTracked) return target;
  const time = Date.now();
  const [action, migration] = isTracked
    ? ['untrack', untracking(names, time)]
    : ['remove', removal(names, target.enums, time)];
  tree.create(
    `/src/database/migrations/${time}-${action}-${folder}.ts`,
    await formatted(migration),
  );
  return target;
}

/**
 * The TypeScript files of the service and its tests.
 *
 * @param {import('@angular-devkit/schematics').Tree} tree
 */
function filesOf(tree) {
  /** @type {string[]} */
  const files = [];
  for (const folder of ['/src', '/test']) {
    tree.getDir(folder).visit((path) => {
      if (path.endsWith('.ts')) files.push(path);
    });
  }
  return files;
}
