import { ModuleDeclarator } from '@nestjs/schematics';
import { askFields, askName } from './ask.js';
import { readFields } from './fields.js';
import { checkNotTaken, namesOf } from './names.js';
import { GeneratorError } from './generator-error.js';
import { lockProject } from './lock.js';
import { removeResource } from './remove.js';
import { proposal } from './sample.js';
import { tableFields } from './table.js';
import { existingResources, targetsOf } from './targets.js';
import { controller } from './write/controller.js';
import { dto } from './write/dto.js';
import { entity, enumNameOf } from './write/entity.js';
import { formatted } from './write/formatted.js';
import { migration } from './write/migration.js';
import { module } from './write/module.js';
import { service } from './write/service.js';
import { spec } from './write/spec.js';
import { tracking } from './write/tracking.js';

/**
 * The options of the command line.
 *
 * @typedef {object} Options
 * @property {string} [name]
 * @property {string} [path] the second argument of `nest generate`: the fields or a file
 * @property {readonly string[]} [words] the arguments that are no options
 * @property {string} [language] set by `nest`
 * @property {string} [fields]
 * @property {string} [from]
 * @property {string} [fromTable]
 * @property {string} [key]
 * @property {string} [omit]
 * @property {string} [indexed]
 * @property {boolean} [track] whether triggers of the service count the rows of the table
 * @property {string} [counted]
 * @property {string} [singular]
 * @property {boolean} [remove] whether the resource is removed instead
 */

const APP_MODULE = '/src/app.module.ts';

/**
 * Writes or removes a resource. Throws a `GeneratorError` before it writes anything.
 *
 * @param {Options} options
 * @returns {import('@angular-devkit/schematics').Rule}
 */
export function resource(options) {
  return async (tree, { logger }) => {
    const names = namesOf(options.name ?? (await askName()), options.singular);
    if (!tree.exists(APP_MODULE)) throw new GeneratorError('Run this in the folder of the project');
    if (options.remove) {
      await lockProject();
      const { isExternal, isTracked } = await removeResource(tree, names, APP_MODULE);
      logger.warn(
        isExternal
          ? `The table that ${names.words} listed stays as it is${isTracked ? ', without the triggers of the service once the migration is applied' : ''}.`
          : `The migration drops the table of ${names.words}. Where that has objects, start and migrate are refused until they are deleted with: catalogue drop ${names.resource} --destructive`,
      );
      return;
    }
    checkFree(tree, names, existingResources(tree));
    const read = await fieldsOf(options, names, (line) => {
      logger.info(line);
    });
    const { identifier, identifierType, own: fields, times, shapes, external } = read;
    await lockProject();
    // Another generator may have written since.
    const resources = existingResources(tree);
    checkFree(tree, names, resources);
    const targets = targetsOf(resources, names, read);
    if (!external) checkEnums(names, fields, resources);
    const described = {
      names,
      identifier,
      identifierType,
      fields,
      times,
      targets,
      shapes,
      external,
    };
    const time = Date.now();
    const { folder, file } = names;
    const written = new Map([
      [`/src/${folder}/${file}.entity.ts`, entity(described)],
      [`/src/${folder}/list-${folder}.dto.ts`, dto(described)],
      [`/src/${folder}/${folder}.service.ts`, service(described)],
      [`/src/${folder}/${folder}.controller.ts`, controller(described)],
      [`/src/${folder}/${folder}.module.ts`, module(described)],
      [`/test/${folder}.spec.ts`, spec(described)],
    ]);
    if (external?.tracked) {
      written.set(`/src/database/migrations/${time}-track-${folder}.ts`, tracking(described, time));
    }
    if (!external) {
      written.set(
        `/src/database/migrations/${time}-create-${folder}.ts`,
        migration(described, time),
      );
    }
    for (const [path, text] of written) tree.create(path, await formatted(text));
    tree.overwrite(APP_MODULE, await formatted(declared(tree.readText(APP_MODULE), names)));
  };
}

/**
 * Checks that the resource's name, class and files do not exist yet.
 *
 * @param {import('@angular-devkit/schematics').Tree} tree
 * @param {import('./names.js').Names} names
 * @param {ReadonlyMap<string, import('./write/resource.js').Target>} resources
 */
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
  if (subfiles.length + subdirs.length > 0) {
    throw new GeneratorError(`The folder src/${folder} is there already`);
  }
  if (tree.exists(`/test/${folder}.spec.ts`)) {
    throw new GeneratorError(`test/${folder}.spec.ts is there already`);
  }
  const migrations = tree.getDir('/src/database/migrations').subfiles.toSorted();
  const earlier = migrations.findLast((migrated) => migrated.endsWith(`-create-${folder}.ts`));
  const removed = migrations.findLast((migrated) => migrated.endsWith(`-remove-${folder}.ts`));
  if (earlier !== undefined && (removed ?? '') < earlier)
    throw new GeneratorError(`The migration ${earlier} is there already`);
}

/** Maximum length of a type's name: 63 bytes, less what TypeORM appends while it changes a type. */
const MAXIMUM_TYPE_LENGTH = 63 - '_old'.length;

/**
 * Checks the names of the types of enumerations: PostgreSQL cuts a longer one, and no type can have
 * the name of a table.
 *
 * @param {import('./names.js').Names} names
 * @param {readonly import('./fields.js').Field[]} fields
 * @param {ReadonlyMap<string, import('./write/resource.js').Target>} resources
 */
function checkEnums(names, fields, resources) {
  const taken = new Set([...resources].flatMap(([table, { enums }]) => [table, ...enums]));
  taken.add(names.resource);
  for (const { name, type } of fields) {
    if (type !== 'enum') continue;
    const typeName = enumNameOf(names, name);
    checkNotTaken(typeName);
    if (taken.has(typeName)) {
      throw new GeneratorError(
        `The field ${name} would be of the type ${typeName}, which is there already`,
      );
    }
    taken.add(typeName);
    if (typeName.length <= MAXIMUM_TYPE_LENGTH) continue;
    throw new GeneratorError(
      `The field ${name} would be of the type ${typeName}, whose name is longer than ${MAXIMUM_TYPE_LENGTH} letters`,
    );
  }
}

/**
 * The fields: those of an existing table, or as they are described.
 *
 * @param {Options} options
 * @param {import('./names.js').Names} names
 * @param {(line: string) => void} print
 * @returns {Promise<import('./fields.js').Fields & Pick<import('./write/resource.js').Resource, 'shapes' | 'external'>>}
 */
async function fieldsOf(options, names, print) {
  const { fromTable, key, omit, indexed, track, counted } = options;
  if (fromTable === undefined) {
    const [lone] = Object.entries({ key, omit, indexed, track, counted }).filter(
      ([, value]) => value !== undefined,
    );
    if (lone) throw new GeneratorError(`--${lone[0]} goes with --from-table`);
    const { fields, shapes } = await describedFields(options, names, print);
    return { ...readFields(fields, names.identifier), shapes };
  }
  const isDescribed = [options.fields, options.from, options.path].some(
    (each) => each !== undefined,
  );
  if (isDescribed || argumentsOf(options).length > 0) {
    throw new GeneratorError(`The fields come from ${fromTable}, and cannot be described besides`);
  }
  if (counted !== undefined && !track) throw new GeneratorError('--counted goes with --track');
  const read = await tableFields({ fromTable, key, omit, indexed, track, counted });
  return { ...read, shapes: new Map() };
}

/**
 * The arguments after the name.
 *
 * @param {Options} options
 */
function argumentsOf({ words = [], language }) {
  // nest passes the name and the path as options, through a shell, which splits a path at spaces.
  return language === undefined ? words.slice(1) : words;
}

/**
 * The description of the fields: from the command line, proposed from a file, or asked for.
 *
 * @param {Options} options
 * @param {import('./names.js').Names} names
 * @param {(line: string) => void} print
 * @returns {Promise<{ fields: string, shapes: Map<string, import('./shape.js').SampledShape> }>}
 */
async function describedFields(options, names, print) {
  const { path: first, fields, from } = options;
  const others = argumentsOf(options);
  const path =
    first === undefined && others.length === 0 ? undefined : [first, ...others].join(' ').trim();
  const isFile = path !== undefined && /\.(csv|ndjson|jsonl|json)(\.gz)?$/.test(path);
  const file = from ?? (isFile ? path : undefined);
  const described = fields ?? (isFile ? undefined : path);
  if (file !== undefined && described !== undefined) {
    throw new GeneratorError(
      `The fields come from ${file} or from their description, not from both`,
    );
  }
  if (file === undefined) {
    return { fields: described ?? (await askFields(names)), shapes: new Map() };
  }
  const proposed = await proposal(file, names);
  for (const line of proposed.lines) print(line);
  return proposed;
}

/**
 * The text of the application's module, with the resource's module among its imports.
 *
 * @param {string} content
 * @param {import('./names.js').Names} names
 */
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
