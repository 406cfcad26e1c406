import { IDENTIFIER_TYPES } from '@catalogue/server/generator';
import { fieldError } from './generator-error.js';

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
  tree.getDir('/src').visit((path) => {
    if (!path.endsWith('.entity.ts')) return;
    // The formatter of a project may write either quote.
    const text = tree.readText(path).replaceAll('"', "'");
    const name = /@Resource\('(\w+)'/.exec(text)?.[1];
    const entity = /export class (\w+)/.exec(text)?.[1];
    const [, options = '', identifier] = /@PrimaryColumn\(([^)]*)\)\s+(\w+)!/.exec(text) ?? [];
    if (name === undefined || entity === undefined || identifier === undefined) return;
    const isExternal = /@Resource\('\w+', \{\s*external:/.test(text);
    resources.set(name, {
      entity,
      identifier,
      identifierType: IDENTIFIER_TYPES.find((type) => options.includes(`'${type}'`)) ?? 'text',
      module: path.replace(/^\/src\/(.*)\.ts$/, '../$1.js'),
      enums: enumTypes(name, text),
      parent: new RegExp(`@ForeignKey\\(\\(\\) => ${entity}\\)[^;]*?\\n\\s*(\\w+)[!?]:`).exec(
        text,
      )?.[1],
      isExternal,
    });
  });
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
  const parent = fields.find(({ resource }) => resource === own)?.name;
  const itself = { entity, identifier, identifierType, module: '', enums: [], parent };
  const known = new Map([...resources, [own, { ...itself, isExternal: false }]]);
  for (const { name, resource, flags } of fields) {
    if (resource === undefined) continue;
    const target = known.get(resource);
    if (!target) {
      throw fieldError(
        name,
        `refers to ${resource}, but there are only ${[...known.keys()].sort().join(', ')}`,
      );
    }
    if (resource === own && !flags.has('null')) {
      throw fieldError(name, `refers to ${resource} themselves, so it must be null for some`);
    }
    if (target.isExternal) {
      throw fieldError(name, `cannot refer to ${resource}, whose table is external`);
    }
    if (flags.has('tree') && target.parent === undefined) {
      throw fieldError(name, `cannot be tree: ${resource} do not refer to themselves`);
    }
    targets.set(resource, target);
  }
  return targets;
}
