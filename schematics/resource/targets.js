import { IDENTIFIER_TYPES } from '../../src/resource/column-types.js';
import { GeneratorError } from './generator-error.js';

/**
 * @typedef {import('./fields.js').Field} Field
 * @typedef {import('./names.js').Names} Names
 * @typedef {import('./write/resource.js').Target} Target
 */

/**
 * The resources of the project, by name, read from the text of their entities.
 *
 * @param {import('@angular-devkit/schematics').Tree} tree
 * @returns {Map<string, Target>}
 */
export function existingResources(tree) {
  /** @type {Map<string, Target>} */
  const resources = new Map();
  for (const folder of tree.getDir('/src').subdirs) {
    for (const file of tree.getDir(`/src/${folder}`).subfiles) {
      if (!file.endsWith('.entity.ts')) continue;
      const text = tree.readText(`/src/${folder}/${file}`);
      const name = /@Resource\('(\w+)'/.exec(text)?.[1];
      const entity = /export class (\w+)/.exec(text)?.[1];
      const [, options = '', identifier] = /@PrimaryColumn\(([^)]*)\)\s+(\w+)!/.exec(text) ?? [];
      const identifierType =
        IDENTIFIER_TYPES.find((type) => type !== 'text' && options.includes(`'${type}'`)) ?? 'text';
      if (name === undefined || entity === undefined || identifier === undefined) continue;
      const module = `../${folder}/${file.replace(/\.ts$/, '.js')}`;
      const word = file.replace('.entity.ts', '');
      const enums = enumTypes(name, text);
      const isTree = text.includes(`@ForeignKey(() => ${entity})`);
      const isExternal = /@Resource\('\w+', \{\s*external:/.test(text);
      const isTracked = isExternal && /\btracked: true\b/.test(text);
      resources.set(name, {
        ...{ entity, identifier, identifierType, module, word },
        ...{ enums, isTree, isExternal, isTracked },
      });
    }
  }
  return resources;
}

/**
 * The types of the enumerations in the text of an entity: those of `enumName`, or as TypeORM names them.
 *
 * @param {string} resource
 * @param {string} text
 */
function enumTypes(resource, text) {
  const columns = text.matchAll(/@Column\(\{([^}]*\btype: 'enum'[^}]*)\}\)[^;]*?\n\s*(\w+)[!?]:/g);
  return [...columns].map(
    ([, options = '', property = '']) =>
      /enumName: '(\w+)'/.exec(options)?.[1] ?? `${resource}_${property.toLowerCase()}_enum`,
  );
}

/**
 * The resources that fields refer to, by name.
 *
 * @param {ReadonlyMap<string, Target>} resources
 * @param {Names} names
 * @param {import('./fields.js').Fields} fields
 * @returns {Map<string, Target>}
 */
export function targetsOf(resources, names, { identifier, identifierType, own: fields }) {
  /** @type {Map<string, Target>} */
  const targets = new Map();
  for (const { name, resource, flags } of fields) {
    if (resource === undefined) continue;
    if (resource === names.resource) {
      if (!flags.has('null')) {
        throw new GeneratorError(
          `The field ${name} refers to ${resource} themselves, so it must be null for some`,
        );
      }
      const { entity, file: word } = names;
      targets.set(resource, {
        ...{ entity, identifier, identifierType, module: '', word },
        ...{ enums: [], isTree: true, isExternal: false, isTracked: false },
      });
      continue;
    }
    const target = resources.get(resource);
    if (!target) {
      const known = [...resources.keys(), names.resource].sort().join(', ');
      throw new GeneratorError(
        `The field ${name} refers to ${resource}, but there are only ${known}`,
      );
    }
    if (target.isExternal) {
      throw new GeneratorError(
        `The field ${name} cannot refer to ${resource}, whose table is that of others`,
      );
    }
    if (flags.has('tree') && !target.isTree) {
      throw new GeneratorError(
        `The field ${name} cannot be tree: ${resource} do not refer to themselves`,
      );
    }
    targets.set(resource, target);
  }
  return targets;
}
