import { GeneratorError } from './generator-error.js';
import { existingResources } from './targets.js';
import { formatted } from './write/resource.js';
import { removal } from './write/migrations.js';

/**
 * Removes the files of a resource and its module's line, and writes the migration that drops its table. An
 * external table stays as it is.
 *
 * @param {import('@angular-devkit/schematics').Tree} tree
 * @param {import('./names.js').Names} names
 * @param {string} appModule the path of the application's module
 * @returns {Promise<string>} what becomes of its table
 * @throws {GeneratorError} if there is no such resource, or if other files use it
 */
export async function removeResource(tree, names, appModule) {
  const { resource, folder, plural } = names;
  const target = existingResources(tree).get(resource);
  const directory = `/src/${folder}`;
  const module = `${plural}Module`;
  const text = tree.readText(appModule);
  const line = new RegExp(`^import \\{ ${module} \\} from ['"]\\./${folder}/.*\\n`, 'm');
  if (!target?.module.startsWith(`../${folder}/`) || !line.test(text)) {
    throw new GeneratorError(
      `There is no resource ${resource} in src/${folder} that is imported as ${module}`,
    );
  }
  const spec = `/test/${folder}.spec.ts`;
  tree.delete(directory);
  if (tree.exists(spec)) tree.delete(spec);
  const without = text.replace(line, '').replace(new RegExp(`\\n?[ ]*\\b${module}\\b,?`), '');
  tree.overwrite(appModule, await formatted(without));
  const uses = new RegExp(`from ['"][./]*(src/)?${folder}/`);
  /** @type {string[]} */
  const files = [];
  for (const root of ['/src', '/test']) tree.getDir(root).visit((file) => files.push(file));
  const others = files.filter((file) => file.endsWith('.ts') && uses.test(tree.readText(file)));
  // Of what was done to the tree, nothing is written then.
  if (others.length > 0) {
    const paths = others.map((file) => file.slice(1)).join(', ');
    throw new GeneratorError(`${resource} is used by ${paths}: remove that first`);
  }
  if (target.isExternal) return `The table that ${names.words} listed stays as it is.`;
  const time = Date.now();
  const path = `/src/migrations/${time}-remove-${folder}.ts`;
  tree.create(path, await formatted(removal(names, target.enums, time)));
  return `The migration drops the table of ${names.words}. Where that has objects, start and migrate are refused until they are deleted with: catalogue drop ${resource} --destructive`;
}
