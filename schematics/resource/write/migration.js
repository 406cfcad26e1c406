import { DefaultNamingStrategy } from 'typeorm';
import { identifierFacts, timeType } from '../../../src/resource/column-types.js';
import { createIndex, listIndexes } from '../../../src/resource/list-indexes.js';
import { TIMES } from '../fields.js';
import { columnOf, enumNameOf } from './entity.js';
import {
  checksOf,
  columnTypeOf,
  countedColumns,
  filteredColumns,
  ginColumns,
  searchedColumns,
  searchedFields,
  sortedColumns,
  unlistedReferences,
} from './resource.js';

/**
 * @typedef {import('../fields.js').Field} Field
 * @typedef {import('./resource.js').Resource} Resource
 */

/**
 * The migration that creates the table as TypeORM would from the entity, and the triggers for its
 * times, its words, its tally and its deletions.
 *
 * @param {Resource} resource
 * @param {number} time when it is generated, in milliseconds since 1970; migrations run in this order
 */
export function migration(resource, time) {
  const { names, identifier, fields } = resource;
  const { resource: table } = names;
  const enums = fields.filter(({ type }) => type === 'enum');
  const searched = searchedFields(resource);
  const tallied = [countedColumns(resource), sortedColumns(resource), searchedColumns(resource)];
  // The last arguments of install_tally are optional.
  while (tallied.length > 1 && tallied.at(-1)?.length === 0) tallied.pop();
  const up = [
    ...enums.map(({ name, values = [] }) => {
      const allowed = values.map((value) => `'${value}'`).join(', ');
      return `CREATE TYPE "${enumNameOf(names, name)}" AS ENUM (${allowed})`;
    }),
    createTable(resource),
    ...indexes(resource),
    `CREATE TRIGGER "${table}_updated_at" BEFORE INSERT OR UPDATE ON "${table}"
     FOR EACH ROW EXECUTE FUNCTION "keep_updated_at"()`,
    ...(searched.length > 0 ? [`SELECT install_words('${table}', '{${searched.join()}}')`] : []),
    `SELECT install_tally('${table}', '${identifier}', ${tallied.map((names) => `'{${names.join()}}'`).join(', ')})`,
    `SELECT install_deletions('${table}', '${identifier}')`,
  ];
  const down = [
    `SELECT remove_deletions('${table}')`,
    `SELECT remove_tally('${table}')`,
    ...(searched.length > 0 ? [`SELECT remove_words('${table}')`] : []),
    `DROP TABLE "${table}"`,
    ...enums.map(({ name }) => `DROP TYPE "${enumNameOf(names, name)}"`),
  ];
  return `import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Create${names.plural}${time} implements MigrationInterface {
  readonly creates = '${table}';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
${down.map((statement) => `    await runner.query(${literal(statement)});\n`).join('')}  }
}

/** Constraints and indexes bear the names that TypeORM derives, so that it finds them. */
const STATEMENTS = [
${up.map((statement) => `  ${literal(statement)},\n`).join('')}];
`;
}

const naming = new DefaultNamingStrategy();

/** @param {Resource} resource */
function createTable(resource) {
  const { names, identifier, fields, targets } = resource;
  const { resource: table } = names;
  const columns = [
    `"${identifier}" ${identifierFacts(resource.identifierType).sql()} NOT NULL`,
    ...fields.map((field) => definition(resource, field)),
    ...TIMES.map((name) => `"${name}" ${timeType} NOT NULL DEFAULT now()`),
    ...(searchedFields(resource).length > 0 ? ['"words" tsvector NOT NULL'] : []),
    `CONSTRAINT "${naming.primaryKeyName(table, [identifier])}" PRIMARY KEY ("${identifier}")`,
    ...checksOf(resource).map(
      (check) => `CONSTRAINT "${naming.checkConstraintName(table, check)}" CHECK (${check})`,
    ),
    ...fields
      .filter(({ type }) => type === 'reference')
      .map(({ name, resource: target = '' }) => {
        const key = targets.get(target)?.identifier ?? '';
        return `CONSTRAINT "${naming.foreignKeyName(table, [name], target, [key])}" FOREIGN KEY ("${name}") REFERENCES "${target}" ("${key}")`;
      }),
  ];
  // Counts by an index visit the objects that were written since the last vacuum. With the default, a fifth of the
  // objects, such lists take twice as long.
  return `CREATE TABLE "${table}" (\n     ${columns.join(',\n     ')}\n   ) WITH (autovacuum_vacuum_scale_factor = 0.05)`;
}

/**
 * The definition of a field's column in CREATE TABLE.
 *
 * @param {Resource} resource
 * @param {Field} field
 */
function definition(resource, field) {
  const type = columnTypeOf(resource, field).sql(columnOf(resource, field));
  return `"${field.name}" ${type}${field.flags.has('null') ? '' : ' NOT NULL'}`;
}

/**
 * The statements that create indexes.
 *
 * @param {Resource} resource
 * @returns {string[]}
 */
function indexes(resource) {
  const { names, identifier } = resource;
  const { resource: table } = names;
  const [filtered, sorted] = [filteredColumns(resource), sortedColumns(resource)];
  // @Resource declares that of updatedAt.
  const others = [
    ...unlistedReferences(resource),
    ...([...filtered, ...sorted].includes('updatedAt') ? [] : ['updatedAt']),
  ];
  const columns = indexedColumns(resource);
  return [
    ...others.map((column) => {
      const name = naming.indexName(table, [column, identifier]);
      return `CREATE INDEX "${name}" ON "${table}" ("${column}", "${identifier}")`;
    }),
    ...ginColumns(resource).map(
      (column) =>
        `CREATE INDEX "${naming.indexName(table, [column])}" ON "${table}" USING gin ("${column}")`,
    ),
    ...listIndexes({
      table,
      identifier: { name: identifier, bytes: identifierFacts(resource.identifierType).bytes() },
      filtered: columns.filter(({ name }) => filtered.includes(name)),
      sorted: columns.filter(({ name }) => sorted.includes(name)),
      paths: [],
    }).map((index) => createIndex(table, index)),
  ];
}

/**
 * The fields as columns of an index.
 *
 * @param {Resource} resource
 * @returns {import('../../../src/resource/list-indexes.js').IndexedColumn[]}
 */
function indexedColumns(resource) {
  const { fields, times } = resource;
  return [...fields, ...times].map((field) => ({
    name: field.name,
    bytes: columnTypeOf(resource, field).bytes(columnOf(resource, field)),
  }));
}

/**
 * A statement as a JavaScript literal, in quotes that need no escapes.
 *
 * @param {string} statement
 */
function literal(statement) {
  return statement.includes("'") || statement.includes('\n')
    ? `\`${statement}\``
    : `'${statement}'`;
}
