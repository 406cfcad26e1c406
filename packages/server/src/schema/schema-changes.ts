import type { DataSource } from 'typeorm';
import { ownResources } from '../resource/resource.js';
import { listIndexPrefix } from '../resource/list-indexes.js';
import { METADATA_TABLE } from '../resource/reserved-names.js';

/** Statements that change a schema, and those that revert it, each in order of execution. */
export interface Changes {
  readonly up: readonly string[];
  readonly down: readonly string[];
}

/**
 * The statements by which TypeORM would bring the tables in line with the entities, except for the
 * indexes of lists, which it does not know: it has neither INCLUDE nor DESC. The database is only read.
 */
export async function schemaChanges(dataSource: DataSource): Promise<Changes> {
  leaveOutDerivedNames(dataSource);
  const { noDeprecation } = process;
  // TypeORM runs concurrent queries on one connection; node-postgres warns that this is deprecated.
  process.noDeprecation = true;
  try {
    const { upQueries, downQueries } = await dataSource.driver.createSchemaBuilder().log();
    const tables = [...ownResources(dataSource).keys()];
    const isOfTypeORM = (statement: string): boolean => {
      const [, name] = /^(?:CREATE|DROP) INDEX (?:"[^"]+"\.)?"([^"]+)"/.exec(statement) ?? [];
      return !tables.some((table) => name?.startsWith(listIndexPrefix(table)));
    };
    const { up, down } = withWiderTypes({
      up: literalStatements(dataSource, upQueries).filter(isOfTypeORM),
      down: literalStatements(dataSource, downQueries.reverse()).filter(isOfTypeORM),
    });
    return { up, down: await withEnumDefaults(dataSource, down) };
  } finally {
    process.noDeprecation = noDeprecation;
  }
}

/**
 * Leaves out the names of enumerations that TypeORM derives by itself. It has none where it reads such a type from the
 * database, and would take the name in the entity for a change, each time. They stay out: another comparison may be under
 * way, and everything else that reads such a name derives it where it is absent.
 */
function leaveOutDerivedNames({ entityMetadatas }: DataSource): void {
  for (const { tableName, columns } of entityMetadatas) {
    for (const column of columns) {
      const derived = `${tableName}_${column.databaseName.toLowerCase()}_enum`;
      if (column.enumName === derived) column.enumName = undefined;
    }
  }
}

/** A statement of TypeORM with its parameters. */
interface ParameterisedStatement {
  readonly query: string;
  readonly parameters?: readonly unknown[];
}

/**
 * Statements with their parameters as literals. What TypeORM notes of a generated column bears the names of the
 * database and the schema, which are those in which the migration runs.
 */
function literalStatements(
  dataSource: DataSource,
  statements: readonly ParameterisedStatement[],
): string[] {
  const { database, schema } = dataSource.driver;
  const literals = statements.map(({ query, parameters = [] }) => {
    // A statement without parameters may have `$1` in the text of an expression.
    if (parameters.length === 0) return query;
    return query.replace(/\$(\d+)/g, (_, at: string) => {
      const value = String(parameters[Number(at) - 1]);
      if (value === database) return 'current_database()';
      if (value === schema) return 'current_schema()';
      return `'${value.replaceAll("'", "''")}'`;
    });
  });
  const hasMetadata = literals.some((text) => text.includes(' "typeorm_metadata"'));
  return hasMetadata ? [METADATA_TABLE, ...literals] : literals;
}

/** Writes a wider type of a column as such. TypeORM drops the column and adds it again, which empties it. */
function withWiderTypes({ up, down }: Changes): Changes {
  let changes = { up: [...up], down: [...down] };
  for (const statement of up) {
    const [, table = '', column = '', definition = ''] = ADDED.exec(statement) ?? [];
    const added = `ALTER TABLE "${table}" ADD "${column}" `;
    const former = down.find((each) => each.startsWith(added))?.slice(added.length);
    if (former === undefined || !changes.up.includes(dropColumn(table, column))) continue;
    const [from, to] = [splitDefinition(former), splitDefinition(definition)];
    if (!from || from.rest !== to?.rest || !isWider(from.type, to.type)) continue;
    const collation = / COLLATE "\w+"/.exec(to.rest)?.[0] ?? '';
    const replace = (statements: readonly string[], type: string): string[] =>
      statements.flatMap((each) => {
        if (each === dropColumn(table, column)) return [];
        if (!each.startsWith(added)) return [each];
        return [`ALTER TABLE "${table}" ALTER COLUMN "${column}" TYPE ${type}${collation}`];
      });
    changes = { up: replace(changes.up, to.type), down: replace(changes.down, from.type) };
  }
  return changes;
}

/** A statement that adds a column: its table, name and definition. */
export const ADDED = /^ALTER TABLE "(\w+)" ADD "(\w+)" (.*)$/;

/** The statement that drops a column, as TypeORM writes it. */
export function dropColumn(table: string, column: string): string {
  return `ALTER TABLE "${table}" DROP COLUMN "${column}"`;
}

/** The type of a column's definition, if it is one that `isWider` knows, and everything after it. */
function splitDefinition(definition: string): { type: string; rest: string } | undefined {
  const type =
    /^(?:character varying(?:\(\d+\))?|text|smallint|integer|bigint|numeric\(\d+,\d+\))(?= |$)/.exec(
      definition,
    )?.[0];
  return type === undefined ? undefined : { type, rest: definition.slice(type.length) };
}

/** Whether a type, as PostgreSQL writes it, holds every value of another one. */
export function isWider(from: string, to: string): boolean {
  const integers = ['smallint', 'integer', 'bigint'];
  if (integers.includes(from)) return integers.indexOf(from) < integers.indexOf(to);
  const [less, more] = [from, to].map((type) => /^numeric\((\d+),(\d+)\)$/.exec(type));
  if (less && more) {
    const [digits, scale] = [Number(less[1]), Number(less[2])];
    const [newDigits, newScale] = [Number(more[1]), Number(more[2])];
    return newScale >= scale && newDigits - newScale >= digits - scale;
  }
  return maximumLength(from) < maximumLength(to);
}

/** Maximum characters of a type of texts; NaN for any other type. */
function maximumLength(type: string): number {
  if (type === 'text' || type === 'character varying') return Infinity;
  return Number(/^character varying\((\d+)\)$/.exec(type)?.[1]);
}

/**
 * Statements that revert an added value of an enumeration, with the default of its column dropped while
 * the type changes. TypeORM forgets it, and PostgreSQL cannot convert it.
 */
async function withEnumDefaults(
  dataSource: DataSource,
  statements: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const statement of statements) {
    const [, table = '', column = ''] =
      /^ALTER TABLE "(\w+)" ALTER COLUMN "(\w+)" TYPE .*::"text"::/.exec(statement) ?? [];
    const alter = `ALTER TABLE "${table}" ALTER COLUMN "${column}"`;
    const value =
      table === '' || statements.includes(`${alter} DROP DEFAULT`)
        ? undefined
        : await defaultText(dataSource, table, column);
    found.push(
      ...(value === undefined
        ? [statement]
        : [`${alter} DROP DEFAULT`, statement, `${alter} SET DEFAULT '${value}'`]),
    );
  }
  return found;
}

/** The default of a column of an enumeration, escaped; `undefined` if it has none. */
async function defaultText(
  dataSource: DataSource,
  table: string,
  column: string,
): Promise<string | undefined> {
  const [row] = await dataSource.query<{ expression: string }[]>(
    `SELECT pg_get_expr(adbin, adrelid) AS expression FROM pg_attrdef
     JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
     WHERE adrelid = to_regclass($1) AND attname = $2`,
    [`"${table}"`, column],
  );
  return /^'(.*)'::/.exec(row?.expression ?? '')?.[1];
}
