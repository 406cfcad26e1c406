import type { DataSource } from 'typeorm';
import { CommandError } from '../command-error.js';
import { COLUMN_TYPES, type ColumnTypeName, isArrayType } from '../resource/column-types.js';
import { FILTER_FLAGS, FLAGGED, type Flag } from '../resource/filter-forms.js';
import { SERVICE_TABLES } from '../resource/reserved-names.js';
import {
  hasOwnTable,
  isResource,
  ownResources,
  quotedName,
  quotedTable,
} from '../resource/resource.js';
import type { ExternalTable } from '../resource/declaration.js';
import {
  readRelation,
  type Relation,
  type RelationColumn,
  relationNamed,
} from './external-table.js';
import { genericPlan, isForeign, isInOrder, usesIndexes } from './plan.js';

export interface DescribeOptions {
  /** The column that identifies the objects. Default: the primary key. */
  readonly key?: string;
  /** Columns to leave out. */
  readonly omit?: readonly string[];
  /** Columns of a foreign table that have an index where its rows are. */
  readonly indexed?: readonly string[];
}

/** What a resource over an external table would have. */
interface DescribedTable extends ExternalTable {
  readonly kind: Relation['kind'];
  readonly key: Pick<DescribedColumn, 'name' | 'type' | 'length'>;
  /** All columns but the key, in their order. */
  readonly columns: readonly DescribedColumn[];
}

interface DescribedColumn {
  readonly name: string;
  readonly type: ColumnTypeName;
  readonly length: number | null;
  readonly values: readonly string[] | null;
  /** Whether it may be null, and the filters and sorts that an index serves. */
  readonly flags: readonly Flag[];
}

const KEY_TYPES: readonly string[] = ['character varying', 'text', 'integer', 'bigint', 'uuid'];

/**
 * Describes an external table. A filter or a sort is offered if PostgreSQL can serve it from an index, in every table
 * that a view reads. The indexes behind a foreign table are not known: those of its columns that are named have one.
 *
 * @param name as in SQL: `sales.items`
 * @throws CommandError if a resource cannot list it
 */
export async function describeTable(
  dataSource: DataSource,
  name: string,
  { key: named, omit = [], indexed = [] }: DescribeOptions,
): Promise<DescribedTable> {
  const found = await relationNamed(dataSource, name).catch((error: unknown) => {
    throw new CommandError(`${name} does not name a table: ${(error as Error).message}`);
  });
  const relation = found && (await readRelation(dataSource, found));
  if (!relation) throw new CommandError(`There is no table, view or foreign table ${name}`);
  const table = `${relation.schema}.${relation.name}`;
  if (!relation.isReadable) {
    throw new CommandError(`The user of the settings may not read ${table}: GRANT SELECT on it`);
  }
  await checkOfOthers(dataSource, relation);
  for (const column of [...omit, ...indexed, ...(named === undefined ? [] : [named])]) {
    if (relation.columns.some((each) => each.name === column)) continue;
    throw new CommandError(`${table} has no column ${column}`);
  }
  const columns = relation.columns.filter(({ name: column }) => !omit.includes(column));
  checkColumns(table, columns);
  const key = keyOf(relation, columns, named);
  await checkKey(dataSource, relation, key);
  const others = columns.filter((column) => column !== key);
  const described: DescribedColumn[] = [];
  for (const column of others) {
    const flags = await flagsOf(dataSource, relation, key.name, column, indexed);
    described.push(describedColumn(column, flags));
  }
  const unserved = indexed.find((column) => !others.some((each) => each.name === column));
  if (unserved !== undefined) {
    throw new CommandError(`${unserved} needs no --indexed: it identifies, or is left out`);
  }
  const { schema, name: relationName, kind } = relation;
  return {
    ...{ schema, name: relationName, kind },
    ...{ key: describedColumn(key, []), columns: described },
  };
}

/** @throws CommandError for a table of the service itself, or of the database system */
async function checkOfOthers(dataSource: DataSource, { schema, name }: Relation): Promise<void> {
  const [{ own }] = await dataSource.query<[{ own: boolean }]>(
    'SELECT current_schema() = $1 AS own',
    [schema],
  );
  const tables = dataSource.entityMetadatas
    .filter((metadata) => !isResource(metadata) || hasOwnTable(metadata))
    .map(({ tableName }) => tableName);
  const tallied = [...ownResources(dataSource).keys()];
  const isOfService =
    [...tables, ...SERVICE_TABLES].includes(name) ||
    tallied.some((resource) => name.startsWith(`${resource}_tally`));
  if (own && isOfService)
    throw new CommandError(`${schema}.${name} is a table of the service itself`);
  if (schema === 'information_schema' || schema.startsWith('pg_')) {
    throw new CommandError(`${schema}.${name} is a table of PostgreSQL itself`);
  }
  for (const each of [schema, name]) {
    if (!/["'.\\]/.test(each)) continue;
    throw new CommandError(`${each} has a quote, a dot or a backslash in its name: make a view`);
  }
}

/** @throws CommandError that names all columns that no list can show */
function checkColumns(table: string, columns: readonly RelationColumn[]): void {
  const unsupported = columns.flatMap(({ name, type, sqlType, values }) => {
    if (type === null) return [`${name} is of the type ${sqlType}`];
    const value = values?.find((each) => !ENUM_VALUE.test(each));
    return value === undefined ? [] : [`${name} may be ${JSON.stringify(value)}`];
  });
  if (unsupported.length === 0) return;
  throw new CommandError(
    `${table} has columns that no list can show: ${unsupported.join(', ')}; leave them out with --omit, or make a view that converts them`,
  );
}

/** A value of an enumeration that can be a member of one in TypeScript, and of a list in a query. */
const ENUM_VALUE = /^(?![-+.\d]+$)[^'",\\`\p{C}]{1,63}$/u;

/** @throws CommandError if no column identifies the objects */
function keyOf(
  relation: Relation,
  columns: readonly RelationColumn[],
  named: string | undefined,
): RelationColumn {
  const { schema, name, kind, primaryKey, unique } = relation;
  const table = `${schema}.${name}`;
  const [first, ...others] = named === undefined ? primaryKey : [named];
  if (first === undefined) {
    throw new CommandError(
      `The ${kind} ${table} has no primary key: name the column that identifies its rows with --key`,
    );
  }
  if (others.length > 0) {
    throw new CommandError(
      `${table} is identified by ${primaryKey.join(' and ')}: a resource needs one column; name one with a unique index of its own with --key`,
    );
  }
  const key = columns.find((column) => column.name === first);
  if (!key)
    throw new CommandError(`${first} identifies the rows of ${table} and cannot be omitted`);
  const plainType = key.sqlType.replace(/\(\d+\)$/, '');
  if (!KEY_TYPES.includes(plainType)) {
    throw new CommandError(
      `${table} is identified by ${first}, which is of the type ${key.sqlType}: it must be a text, integer, bigint or uuid`,
    );
  }
  if (kind === 'table' && !unique.includes(first)) {
    throw new CommandError(
      `${table} has no unique index on ${first} alone, so it identifies nothing`,
    );
  }
  if (kind === 'table' && key.isNullable) {
    throw new CommandError(`${table}.${first} may be null, so it does not identify every row`);
  }
  return key;
}

/** @throws CommandError if rows share an identifier or have none, or if no index finds one */
async function checkKey(
  dataSource: DataSource,
  relation: Relation,
  { name: key }: RelationColumn,
): Promise<void> {
  const table = `${relation.schema}.${relation.name}`;
  const [from, column] = [quotedTable(relation), quotedName(key)];
  if (relation.kind !== 'table') {
    const rows = await dataSource.query<unknown[]>(
      `SELECT FROM ${from} GROUP BY ${column}
       HAVING count(*) > 1 OR ${column} IS NULL LIMIT 1`,
    );
    if (rows.length > 0) {
      throw new CommandError(`Several rows of ${table} have the same ${key}, or one has none`);
    }
  }
  const isFound = usesIndexes(
    await genericPlan(dataSource, `SELECT * FROM ${from} WHERE ${column} = $1`),
  );
  const isSorted = isInOrder(
    await genericPlan(dataSource, `SELECT * FROM ${from} ORDER BY ${column} LIMIT 1`),
  );
  if (isFound && isSorted) return;
  throw new CommandError(
    `No index finds the rows of ${table} by ${key}, and in its order: every page would read all of them; a materialized view with an index can be listed`,
  );
}

/** What an index serves of a column, and whether it may be null. */
async function flagsOf(
  dataSource: DataSource,
  relation: Relation,
  key: string,
  column: RelationColumn,
  indexed: readonly string[],
): Promise<Flag[]> {
  const { name, isNullable } = column;
  const serves = async (flag: Flag, clause: string): Promise<boolean> => {
    const text = `SELECT * FROM ${quotedTable(relation)} ${clause}`;
    const nodes = await genericPlan(dataSource, text);
    const isServed = flag === 'sort' ? isInOrder(nodes) : usesIndexes(nodes);
    return isServed && (!isForeign(nodes) || indexed.includes(name));
  };
  const flags: Flag[] = isNullable ? ['null'] : [];
  for (const flag of [...FILTER_FLAGS, 'sort' as const]) {
    const clauses = clausesOf(column, flag, key);
    let isServed = clauses.length > 0;
    for (const clause of clauses) isServed &&= await serves(flag, clause);
    if (isServed) flags.push(flag);
  }
  return flags;
}

/** Types whose values are compared as such, so that a value out of their range fails. */
const SMALL_TYPES = ['smallint', 'real'];

/** What an index must serve for a flag; nothing if it is not offered. */
function clausesOf(
  { name, type, sqlType, values, isNullable }: RelationColumn,
  flag: Flag,
  key: string,
): string[] {
  if (type === null || (flag === 'exists' && !isNullable && !isArrayType(type))) return [];
  if (SMALL_TYPES.includes(sqlType) && flag !== 'exists' && flag !== 'sort') return [];
  // A filter by the one value of an enumeration would leave all objects.
  if (flag === 'several' && values?.length === 1) return [];
  const isOneFilter = flag === 'exact' || flag === 'several';
  if (isOneFilter && flag !== filterFlag(type)) return [];
  const column = quotedName(name);
  if (flag === 'sort') {
    const isSorted = COLUMN_TYPES[type].flags.some((each) => each === flag);
    return isSorted ? [`ORDER BY ${column}, ${quotedName(key)} LIMIT 1`] : [];
  }
  return FLAGGED.filter((each) => each.flag === flag && each.types.some((one) => one === type))
    .flatMap(({ served }) => served?.(column, type) ?? [])
    .map((condition) => `WHERE ${condition}`);
}

/** The filter by values of a type. A text may have the comma that separates several. */
function filterFlag(type: ColumnTypeName): 'exact' | 'several' {
  return type !== 'text' && COLUMN_TYPES[type].several !== undefined ? 'several' : 'exact';
}

function describedColumn(
  { name, type, length, values }: RelationColumn,
  flags: readonly Flag[],
): DescribedColumn {
  if (type === null) throw new TypeError('Columns of other types are refused before');
  return { name, type, length, values, flags };
}
