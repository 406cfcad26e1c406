import { DefaultNamingStrategy } from 'typeorm';
import {
  COLUMN_TYPES,
  identifierFacts,
  METADATA_TABLE,
  nameColumn,
  timeType,
} from '@catalogue/server/generator';
import { TIMES } from '../fields.js';
import { columnOf, enumNameOf } from './entity.js';

/** @typedef {import('./resource.js').Resource} Resource */
/** @typedef {import('../names.js').Names} Names */

/** The names of constraints and indexes are those that TypeORM derives, so that it finds them. */
const naming = new DefaultNamingStrategy();

/**
 * The migration that creates the table as TypeORM would from the entity. `catalogue migrate` installs what `@Resource`
 * declares of it.
 *
 * @param {Resource} resource
 * @param {number} time when it is generated, in milliseconds since 1970; migrations run in this order
 */
export function creation(resource, time) {
  const { names } = resource;
  const enums = resource.enums.map((field) => ({ ...field, name: enumNameOf(names, field.name) }));
  const up = [
    ...enums.map(
      ({ name, values = [] }) =>
        `CREATE TYPE "${name}" AS ENUM (${values.map((value) => `'${value}'`).join(', ')})`,
    ),
    createTable(resource),
    ...indexes(resource),
    ...notes(resource),
  ];
  const down = [
    ...resource.naturalFields.map(
      ({ name }) =>
        `DELETE FROM "typeorm_metadata" WHERE "database" = current_database() AND "schema" = current_schema() AND "table" = '${names.resource}' AND "name" = '${name}Order'`,
    ),
    `DROP TABLE "${names.resource}"`,
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
 * The migration that drops the table of a resource, if it has no objects. It also runs where `catalogue drop` has dropped
 * the table.
 *
 * @param {Names} names
 * @param {readonly string[]} enums the types of its enumerations
 * @param {number} time
 */
export function removal({ resource: table, plural, words }, enums, time) {
  return migration(`Remove${plural}${time}`, {
    imports: `import { checkWithoutObjects } from '@catalogue/server';\n`,
    up: [
      `await checkWithoutObjects(runner, '${table}')`,
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

/** The expression of a column with the natural order of another one. @type {(name: string) => string} */
const orderExpression = (name) => `natural_order("${name}")`;

/** The type of such a column. */
const orderType = COLUMN_TYPES.text.sql({
  ...nameColumn,
  isIndexed: true,
  enumClass: '',
  enumName: '',
});

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
    ...resource.naturalFields.map(
      ({ name, flags }) =>
        `"${name}Order" ${orderType} GENERATED ALWAYS AS (${orderExpression(name)}) STORED${flags.has('null') ? '' : ' NOT NULL'}`,
    ),
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

/** The statements that note the expressions of generated columns, as TypeORM does. @type {(resource: Resource) => string[]} */
function notes({ names, naturalFields }) {
  if (naturalFields.length === 0) return [];
  const rows = naturalFields.map(
    ({ name }) =>
      `(current_database(), current_schema(), '${names.resource}', 'GENERATED_COLUMN', '${name}Order', '${orderExpression(name)}')`,
  );
  return [
    METADATA_TABLE,
    `INSERT INTO "typeorm_metadata" ("database", "schema", "table", "type", "name", "value") VALUES ${rows.join(', ')}`,
  ];
}

/** The statements that create indexes that `@Index` declares. @type {(resource: Resource) => string[]} */
function indexes(resource) {
  const { names, identifier, filteredColumns, sortedColumns } = resource;
  const { resource: table } = names;
  // @Resource declares that of updatedAt.
  const others = [
    ...resource.unlistedReferences,
    ...([...filteredColumns, ...sortedColumns].includes('updatedAt') ? [] : ['updatedAt']),
  ];
  const index = (/** @type {string} */ method, /** @type {string[]} */ ...indexed) =>
    `CREATE INDEX "${naming.indexName(table, indexed)}" ON "${table}"${method} ("${indexed.join('", "')}")`;
  return [
    ...others.map((column) => index('', column, identifier)),
    ...resource.ginColumns.map((column) => index(' USING gin', column)),
  ];
}
