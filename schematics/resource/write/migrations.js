import { DefaultNamingStrategy } from 'typeorm';
import { identifierFacts, timeType } from '../../../src/resource/column-types.js';
import { createIndex, listIndexes } from '../../../src/resource/list-indexes.js';
import { TIMES } from '../fields.js';
import { columnOf, enumNameOf } from './entity.js';

/** @typedef {import('./resource.js').Resource} Resource */
/** @typedef {import('../names.js').Names} Names */

/** The names of constraints and indexes are those that TypeORM derives, so that it finds them. */
const naming = new DefaultNamingStrategy();

/**
 * The migration that creates the table as TypeORM would from the entity, and the triggers for its times, its words, its
 * tally and its deletions.
 *
 * @param {Resource} resource
 * @param {number} time when it is generated, in milliseconds since 1970; migrations run in this order
 */
export function creation(resource, time) {
  const { names, identifier, searched } = resource;
  const { resource: table } = names;
  const enums = resource.enums.map((field) => ({ ...field, name: enumNameOf(names, field.name) }));
  const tallied = [resource.countedColumns, resource.sortedColumns, resource.searchedColumns];
  // The last arguments of install_tally are optional.
  while (tallied.length > 1 && tallied.at(-1)?.length === 0) tallied.pop();
  const up = [
    ...enums.map(
      ({ name, values = [] }) =>
        `CREATE TYPE "${name}" AS ENUM (${values.map((value) => `'${value}'`).join(', ')})`,
    ),
    createTable(resource),
    ...indexes(resource),
    `CREATE TRIGGER "${table}_updated_at" BEFORE INSERT OR UPDATE ON "${table}"
     FOR EACH ROW EXECUTE FUNCTION "keep_updated_at"()`,
    ...(searched.length > 0 ? [`SELECT install_words('${table}', '{${searched.join()}}')`] : []),
    `SELECT install_tally('${table}', '${identifier}', ${tallied.map((each) => `'{${each.join()}}'`).join(', ')})`,
    `SELECT install_deletions('${table}', '${identifier}')`,
  ];
  const down = [
    `SELECT remove_deletions('${table}')`,
    `SELECT remove_tally('${table}')`,
    ...(searched.length > 0 ? [`SELECT remove_words('${table}')`] : []),
    `DROP TABLE "${table}"`,
    ...enums.map(({ name }) => `DROP TYPE "${name}"`),
  ];
  return migration(`Create${names.plural}${time}`, {
    up: ['for (const statement of STATEMENTS) await runner.query(statement)'],
    down: down.map(query),
    foot: `
/** Constraints and indexes bear the names that TypeORM derives, so that it finds them. */
const STATEMENTS = [
${up.map((statement) => `  ${literal(statement)},\n`).join('')}];
`,
  });
}

/**
 * The migration that drops what the migrations of a resource have installed, if it has no objects. It also runs where
 * `catalogue drop` has dropped the table.
 *
 * @param {Names} names
 * @param {readonly string[]} enums the types of its enumerations
 * @param {number} time
 */
export function removal({ resource: table, plural, words }, enums, time) {
  return migration(`Remove${plural}${time}`, {
    imports: `import { checkWithoutObjects } from '../installed-resource.js';\n`,
    up: [
      `await checkWithoutObjects(runner, '${table}')`,
      query(
        `SELECT remove_deletions('${table}'), remove_tally('${table}'), remove_words('${table}')`,
      ),
      query(`DROP TABLE IF EXISTS "${table}"`),
      ...enums.map((name) => query(`DROP TYPE IF EXISTS "${name}"`)),
    ],
    impossible: `The ${words} are gone: restore them from a backup`,
  });
}

/**
 * @param {string} name of its class
 * @param {{ imports?: string, up: string[], down?: string[], impossible?: string, foot?: string }} parts
 * `impossible` says why it cannot be reverted
 */
function migration(name, { imports = '', up, down = [], impossible, foot = '' }) {
  const body = (/** @type {string[]} */ lines) => lines.map((line) => `    ${line};\n`).join('');
  const revert =
    impossible === undefined
      ? `async down(runner: QueryRunner): Promise<void> {\n${body(down)}  }`
      : `down(): Promise<void> {\n    throw new Error('${impossible}');\n  }`;
  return `import type { MigrationInterface, QueryRunner } from 'typeorm';
${imports}
export class ${name} implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
${body(up)}  }

  ${revert}
}
${foot}`;
}

/** @type {(statement: string) => string} */
const query = (statement) => `await runner.query(${literal(statement)})`;

/** A statement as a JavaScript literal, in quotes that need no escapes. @type {(statement: string) => string} */
const literal = (statement) => (/['\n]/.test(statement) ? `\`${statement}\`` : `'${statement}'`);

/** @type {(resource: Resource) => string} */
function createTable(resource) {
  const { names, identifier, fields, targets } = resource;
  const { resource: table } = names;
  const columns = [
    `"${identifier}" ${identifierFacts(resource.identifierType).sql()} NOT NULL`,
    ...fields.map((field) => {
      const { sql } = columnOf(resource, field);
      return `"${field.name}" ${sql}${field.flags.has('null') ? '' : ' NOT NULL'}`;
    }),
    ...TIMES.map((name) => `"${name}" ${timeType} NOT NULL DEFAULT now()`),
    ...resource.searchedColumns.map((name) => `"${name}" tsvector NOT NULL`),
    `CONSTRAINT "${naming.primaryKeyName(table, [identifier])}" PRIMARY KEY ("${identifier}")`,
    ...resource.checks.map(
      (check) => `CONSTRAINT "${naming.checkConstraintName(table, check)}" CHECK (${check})`,
    ),
    ...fields.flatMap(({ name, resource: target }) => {
      if (target === undefined) return [];
      const key = targets.get(target)?.identifier ?? '';
      return `CONSTRAINT "${naming.foreignKeyName(table, [name], target, [key])}" FOREIGN KEY ("${name}") REFERENCES "${target}" ("${key}")`;
    }),
  ];
  // Counts by an index visit the objects that were written since the last vacuum. With the default, a fifth of the
  // objects, such lists take twice as long.
  return `CREATE TABLE "${table}" (\n     ${columns.join(',\n     ')}\n   ) WITH (autovacuum_vacuum_scale_factor = 0.05)`;
}

/** The statements that create indexes. @type {(resource: Resource) => string[]} */
function indexes(resource) {
  const { names, identifier, fields, times } = resource;
  const { resource: table } = names;
  const { filteredColumns: filtered, sortedColumns: sorted } = resource;
  // @Resource declares that of updatedAt.
  const others = [
    ...resource.unlistedReferences,
    ...([...filtered, ...sorted].includes('updatedAt') ? [] : ['updatedAt']),
  ];
  const columns = [...fields, ...times].map((field) => ({
    name: field.name,
    bytes: columnOf(resource, field).bytes,
  }));
  const index = (/** @type {string} */ method, /** @type {string[]} */ ...indexed) =>
    `CREATE INDEX "${naming.indexName(table, indexed)}" ON "${table}"${method} ("${indexed.join('", "')}")`;
  return [
    ...others.map((column) => index('', column, identifier)),
    ...resource.ginColumns.map((column) => index(' USING gin', column)),
    ...listIndexes({
      table,
      identifier: { name: identifier, bytes: identifierFacts(resource.identifierType).bytes() },
      filtered: columns.filter(({ name }) => filtered.includes(name)),
      sorted: columns.filter(({ name }) => sorted.includes(name)),
    }).map((index) => createIndex(table, index)),
  ];
}
