import { ModuleDeclarator } from '@nestjs/schematics';
import { askFields, askName } from './ask.js';
import { readFields } from './fields.js';
import { checkNotTaken, namesOf } from './names.js';
import { Refusal } from './refusal.js';
import { proposal } from './sample.js';
import { existingResources, targetsOf } from './targets.js';
import { controller } from './write/controller.js';
import { dto } from './write/dto.js';
import { entity, enumNameOf } from './write/entity.js';
import { formatted } from './write/formatted.js';
import { migration } from './write/migration.js';
import { module } from './write/module.js';
import { service } from './write/service.js';
import { spec } from './write/spec.js';

/**
 * What can be said on the command line.
 *
 * @typedef {object} Options
 * @property {string} [name]
 * @property {string} [path] the fields or a file, as `nest generate` passes them on
 * @property {string} [fields]
 * @property {string} [from]
 * @property {string} [singular]
 */

const APP_MODULE = '/src/app.module.ts';

/**
 * Writes a resource, or throws a `Refusal` before anything is written.
 *
 * @param {Options} options
 * @returns {import('@angular-devkit/schematics').Rule}
 */
export function resource(options) {
  return async (tree, { logger }) => {
    const names = namesOf(options.name ?? (await askName()), options.singular);
    const resources = existingResources(tree);
    checkFree(tree, names, resources);
    const description = await describedFields(options, names, (line) => {
      logger.info(line);
    });
    const { identifier, own: fields, times } = readFields(description, names.identifier);
    const targets = targetsOf(resources, names, identifier, fields);
    checkEnums(names, fields, resources);
    const described = { names, identifier, fields, times, targets };
    const time = Date.now();
    const { folder, file } = names;
    const written = new Map([
      [`/src/${folder}/${file}.entity.ts`, entity(described)],
      [`/src/${folder}/list-${folder}.dto.ts`, dto(described)],
      [`/src/${folder}/${folder}.service.ts`, service(described)],
      [`/src/${folder}/${folder}.controller.ts`, controller(described)],
      [`/src/${folder}/${folder}.module.ts`, module(described)],
      [`/src/database/migrations/${time}-create-${folder}.ts`, migration(described, time)],
      [`/test/${folder}.spec.ts`, spec(described)],
    ]);
    for (const [path, text] of written) tree.create(path, await formatted(text));
    tree.overwrite(APP_MODULE, await formatted(declared(tree.readText(APP_MODULE), names)));
  };
}

/**
 * Refuses a resource whose name or place is taken.
 *
 * @param {import('@angular-devkit/schematics').Tree} tree
 * @param {import('./names.js').Names} names
 * @param {ReadonlyMap<string, import('./write/resource.js').Target>} resources
 */
function checkFree(tree, { resource: name, folder, entity: entityName }, resources) {
  if (!tree.exists(APP_MODULE)) throw new Refusal('Generate in the folder of the project');
  if (resources.has(name)) throw new Refusal(`The resource ${name} is there already`);
  for (const [other, { entity: taken, enums }] of resources) {
    if (taken === entityName)
      throw new Refusal(`The entity would be called ${entityName}, as that of ${other} is`);
    if (enums.includes(name))
      throw new Refusal(`The table would be called ${name}, as an enumeration of ${other} is`);
  }
  const { subfiles, subdirs } = tree.getDir(`/src/${folder}`);
  if (subfiles.length + subdirs.length > 0)
    throw new Refusal(`The folder src/${folder} is there already`);
  if (tree.exists(`/test/${folder}.spec.ts`))
    throw new Refusal(`test/${folder}.spec.ts is there already`);
  const migrations = tree.getDir('/src/database/migrations').subfiles;
  const earlier = migrations.find((migrated) => migrated.endsWith(`-create-${folder}.ts`));
  if (earlier !== undefined) throw new Refusal(`The migration ${earlier} is there already`);
}

/** Bytes of a name in PostgreSQL, but for what TypeORM appends to that of a type while it changes it. */
const LONGEST_TYPE = 63 - '_old'.length;

/**
 * Refuses an enumeration whose type PostgreSQL would know by a part of its name only, or for
 * something else: types and tables share their names.
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
      throw new Refusal(
        `The field ${name} would be of the type ${typeName}, which is there already`,
      );
    }
    taken.add(typeName);
    if (typeName.length <= LONGEST_TYPE) continue;
    throw new Refusal(
      `The field ${name} would be of the type ${typeName}, whose name is longer than ${LONGEST_TYPE} letters`,
    );
  }
}

/**
 * The fields as they were given, proposed or answered.
 *
 * @param {Options} options
 * @param {import('./names.js').Names} names
 * @param {(line: string) => void} say
 */
async function describedFields({ path, fields, from }, names, say) {
  const isFile = path !== undefined && /\.(csv|ndjson|jsonl)(\.gz)?$/.test(path);
  const file = from ?? (isFile ? path : undefined);
  const described = fields ?? (isFile ? undefined : path);
  if (file !== undefined && described !== undefined) {
    throw new Refusal(`The fields come from ${file} or from what is said of them, not from both`);
  }
  if (file === undefined) return described ?? (await askFields(names));
  const proposed = await proposal(file, names);
  for (const line of proposed.lines) say(line);
  return proposed.fields;
}

/**
 * The application's module with that of the resource.
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
