import { ModuleDeclarator } from '@nestjs/schematics';
import { readFields } from './fields.js';
import { checkNotTaken, namesOf } from './names.js';
import { GeneratorError } from './generator-error.js';
import { removeResource } from './remove.js';
import { proposal } from './sample.js';
import { tableFields } from './table.js';
import { existingResources, targetsOf } from './targets.js';
import { dto } from './write/dto.js';
import { entity, enumNameOf } from './write/entity.js';
import { describe, formatted } from './write/resource.js';
import { controller, module, service, spec } from './write/handlers.js';
import { creation } from './write/migrations.js';

/**
 * @typedef {import('./names.js').Names} Names
 * @typedef {ReadonlyMap<string, import('./write/resource.js').Target>} Resources by name
 *
 * @typedef {object} Options the options of the command line, as `schema.json` has them; `nest generate` alone sets
 * `path`, its second argument
 * @property {readonly string[]} [words]
 * @property {boolean} [remove]
 * @property {boolean} [number]
 *
 * @typedef {Partial<Record<'name' | 'delimiter' | 'singular' | 'path', string>>} Texts
 */

const APP_MODULE = '/src/app.module.ts';

/**
 * Writes or removes a resource. Throws a `GeneratorError` before it writes anything.
 *
 * @param {Options & Texts & Partial<import('./table.js').TableOptions>} options
 * @returns {import('@angular-devkit/schematics').Rule}
 */
export function resource(options) {
  return async (tree, { logger }) => {
    const names = namesOf(options.name ?? '', options.singular);
    if (!tree.exists(APP_MODULE)) throw new GeneratorError('Run this in the folder of the project');
    if (options.remove) {
      logger.warn(await removeResource(tree, names, APP_MODULE));
      return;
    }
    const resources = existingResources(tree);
    checkFree(tree, names, resources);
    const read = await fieldsOf(options, names, resources, logger);
    const described = describe({ ...read, names, targets: targetsOf(resources, names, read) });
    const time = Date.now();
    const { folder, file } = names;
    const { external } = described;
    const written = new Map([
      [`/src/${folder}/${file}.entity.ts`, entity(described)],
      [`/src/${folder}/list-${folder}.dto.ts`, dto(described)],
      [`/src/${folder}/${folder}.service.ts`, service(described)],
      [`/src/${folder}/${folder}.controller.ts`, controller(described)],
      [`/src/${folder}/${folder}.module.ts`, module(described)],
      [`/test/${folder}.spec.ts`, spec(described)],
    ]);
    const migrations = `/src/migrations/${time}`;
    if (!external) {
      checkEnums(names, read.fields, resources);
      written.set(`${migrations}-create-${folder}.ts`, creation(described, time));
    }
    for (const [path, text] of written) tree.create(path, await formatted(text));
    tree.overwrite(APP_MODULE, await formatted(declared(tree.readText(APP_MODULE), names)));
  };
}

/** Checks that the resource's name, class, files and migration do not exist yet. @type {(tree: import('@angular-devkit/schematics').Tree, names: Names, resources: Resources) => void} */
function checkFree(tree, { resource: name, folder, entity: entityName }, resources) {
  if (resources.has(name)) throw new GeneratorError(`The resource ${name} is there already`);
  for (const [other, { entity: taken, enums }] of resources) {
    if (taken === entityName) {
      throw new GeneratorError(`The entity would be called ${entityName}, as that of ${other} is`);
    }
    if (enums.includes(name)) {
      throw new GeneratorError(
        `The table would be called ${name}, as an enumeration of ${other} is`,
      );
    }
  }
  const { subfiles, subdirs } = tree.getDir(`/src/${folder}`);
  const spec = `/test/${folder}.spec.ts`;
  const taken = subfiles.length + subdirs.length > 0 ? `/src/${folder}` : spec;
  if (taken !== spec || tree.exists(spec)) {
    throw new GeneratorError(`${taken.slice(1)} is there already: choose another name`);
  }
  const migrations = tree.getDir('/src/migrations').subfiles.toSorted();
  const earlier = migrations.findLast((migrated) => migrated.endsWith(`-create-${folder}.ts`));
  const removed = migrations.findLast((migrated) => migrated.endsWith(`-remove-${folder}.ts`));
  if (earlier !== undefined && (removed ?? '') < earlier)
    throw new GeneratorError(`The migration ${earlier} is there already`);
}

/**
 * Checks the names of the types of enumerations: PostgreSQL cuts a longer one, and no type can have the name of a table.
 *
 * @type {(names: Names, fields: readonly import('./fields.js').Field[], resources: Resources) => void}
 */
function checkEnums(names, fields, resources) {
  const taken = new Set([...resources].flatMap(([table, { enums }]) => [table, ...enums]));
  taken.add(names.resource);
  // PostgreSQL's 63 bytes, less what TypeORM appends while it changes a type.
  const maximum = 63 - '_old'.length;
  for (const { name, type } of fields) {
    if (type !== 'enum') continue;
    const typeName = enumNameOf(names, name);
    const field = `The field ${name} would be of the type ${typeName}`;
    checkNotTaken(typeName);
    if (taken.has(typeName)) throw new GeneratorError(`${field}, which is there already`);
    if (typeName.length > maximum)
      throw new GeneratorError(`${field}, whose name is longer than ${maximum} letters`);
    taken.add(typeName);
  }
}

/**
 * The fields: those of an existing table, or as they are described.
 *
 * @param {Parameters<typeof resource>[0]} options
 * @param {Names} names
 * @param {Resources} resources
 * @param {{ info: (line: string) => void }} logger
 * @returns {Promise<import('./fields.js').Fields & { external?: import('./write/resource.js').External }>}
 */
async function fieldsOf(
  { words = [], path, delimiter, number, ...options },
  names,
  resources,
  logger,
) {
  const { fromTable, key, omit, indexed } = options;
  const ofTable = { key, omit, indexed };
  const given = words.length > 1 ? words.slice(1).join(' ').trim() : path;
  if (fromTable !== undefined) {
    if (given !== undefined) {
      throw new GeneratorError(
        `The fields come from ${fromTable}, and cannot be described besides`,
      );
    }
    return tableFields({ fromTable, ...ofTable });
  }
  const lone = Object.entries(ofTable).find(([, value]) => value !== undefined);
  if (lone) throw new GeneratorError(`--${lone[0]} goes with --from-table`);
  if (given === undefined || !/\.(csv|ndjson|jsonl|json)(\.gz)?$/.test(given)) {
    if (delimiter !== undefined) throw new GeneratorError('--delimiter goes with a CSV file');
    if (number) throw new GeneratorError('--number goes with a file');
    return readFields(given ?? '', names.identifier);
  }
  const proposed = await proposal(given, names, resources, { delimiter, number });
  for (const line of proposed.lines) logger.info(line);
  return readFields(proposed.fields, names.identifier);
}

/** The text of the application's module, with the resource's module among its imports. @type {(content: string, names: Names) => string} */
function declared(content, { folder, plural }) {
  return new ModuleDeclarator().declare(content, {
    metadata: 'imports',
    type: 'module',
    name: folder,
    className: `${plural}Module`,
    path: /** @type {import('@angular-devkit/core').Path} */ (`/src/${folder}`),
    module: /** @type {import('@angular-devkit/core').Path} */ (APP_MODULE),
    isEsm: true,
  });
}
