import { IDENTIFIER_TYPES } from '../../src/resource/column-types.js';
import { GeneratorError } from './generator-error.js';

/** @typedef {import('./write/resource.js').Target} Target */

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
      if (name === undefined || entity === undefined || identifier === undefined) continue;
      const isExternal = /@Resource\('\w+', \{\s*external:/.test(text);
      resources.set(name, {
        entity,
        identifier,
        identifierType:
          IDENTIFIER_TYPES.find((type) => type !== 'text' && options.includes(`'${type}'`)) ??
          'text',
        module: `../${folder}/${file.replace(/\.ts$/, '.js')}`,
        enums: enumTypes(name, text),
        isTree: text.includes(`@ForeignKey(() => ${entity})`),
        isExternal,
        isTracked: isExternal && /\btracked: true\b/.test(text),
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
 * @param {import('./names.js').Names} names
 * @param {import('./fields.js').Fields} fields
 * @returns {Map<string, Target>}
 */
export function targetsOf(
  resources,
  { resource: own, entity },
  { identifier, identifierType, fields },
) {
  /** @type {Map<string, Target>} */
  const targets = new Map();
  for (const { name, resource, flags } of fields) {
    if (resource === undefined) continue;
    const refuse = (/** @type {string} */ what) => new GeneratorError(`The field ${name} ${what}`);
    if (resource === own && !flags.has('null')) {
      throw refuse(`refers to ${resource} themselves, so it must be null for some`);
    }
    const itself = { entity, identifier, identifierType, module: '', enums: [], isTree: true };
    const target =
      resource === own
        ? { ...itself, isExternal: false, isTracked: false }
        : resources.get(resource);
    if (!target) {
      const known = [...resources.keys(), own].sort().join(', ');
      throw refuse(`refers to ${resource}, but there are only ${known}`);
    }
    if (target.isExternal) {
      throw refuse(`cannot refer to ${resource}, whose table is that of others`);
    }
    if (flags.has('tree') && !target.isTree) {
      throw refuse(`cannot be tree: ${resource} do not refer to themselves`);
    }
    targets.set(resource, target);
  }
  return targets;
}
