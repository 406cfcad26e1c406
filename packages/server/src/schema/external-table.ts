import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { COLUMN_TYPES, type ColumnTypeName } from '../resource/column-types.js';
import type { ExternalTable } from '../resource/declaration.js';
import { typeNameOf } from '../resource/column-values.js';
import { externalTableOf, identifierOf, quotedTable } from '../resource/resource.js';
import type { Difference } from './difference.js';

/** A table, view, materialized view or foreign table as the database has it. */
export interface Relation extends ExternalTable {
  readonly kind: 'table' | 'view' | 'materialized view' | 'foreign table';
  /** Whether the service may read it. */
  readonly isReadable: boolean;
  /** The columns of its primary key; empty if it has none. */
  readonly primaryKey: readonly string[];
  /** The columns of which each alone has a unique index. */
  readonly unique: readonly string[];
  readonly columns: readonly RelationColumn[];
}

export interface RelationColumn {
  readonly name: string;
  /** As in `CREATE TABLE`: `character varying(20)`. */
  readonly sqlType: string;
  /** The type that a resource's column has for it; null if lists cannot show it. */
  readonly type: Exclude<ColumnTypeName, 'reference'> | null;
  /** Maximum characters of a text; null if it has none. */
  readonly length: number | null;
  /** Of an enumeration, in its order. */
  readonly values: readonly string[] | null;
  /** False only if the database says so: the columns of a view always may. */
  readonly isNullable: boolean;
}

const KINDS: Readonly<Record<string, Relation['kind']>> = {
  r: 'table',
  p: 'table',
  v: 'view',
  m: 'materialized view',
  f: 'foreign table',
};

/** By the name of a type of PostgreSQL without its length. */
const TYPES: Readonly<Record<string, RelationColumn['type']>> = {
  'character varying': 'text',
  character: 'text',
  text: 'text',
  smallint: 'integer',
  integer: 'integer',
  bigint: 'bigint',
  uuid: 'uuid',
  numeric: 'decimal',
  real: 'double',
  'double precision': 'double',
  boolean: 'boolean',
  date: 'date',
  'timestamp with time zone': 'date-time',
  'text[]': 'texts',
  'character varying[]': 'texts',
  'integer[]': 'integers',
  json: 'json',
  jsonb: 'json',
};

/**
 * The relation of a name; `undefined` if there is none.
 *
 * @param name as in SQL: `sales.items`, or `items` for one in the search path
 * @throws QueryFailedError for a name that is none, or of a schema that may not be used
 */
export async function relationNamed(
  dataSource: DataSource,
  name: string,
): Promise<ExternalTable | undefined> {
  const [found] = await dataSource.query<ExternalTable[]>(
    `SELECT nspname AS schema, relname AS name
     FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE pg_class.oid = to_regclass($1)`,
    [name],
  );
  return found;
}

/** Reads what a relation is; `undefined` if there is none that can be listed. */
export async function readRelation(
  dataSource: DataSource,
  { schema, name }: ExternalTable,
): Promise<Relation | undefined> {
  const [found] = await dataSource.query<RelationRow[]>(RELATION, [schema, name]);
  const kind = KINDS[found?.relkind ?? ''];
  if (!found || !kind) return undefined;
  const { isReadable, primaryKey, unique, columns } = found;
  return {
    ...{ schema, name, kind, isReadable, primaryKey, unique },
    columns: columns.map(({ plainType, typtype, isNullable, ...column }) => ({
      ...column,
      type: typtype === 'e' ? 'enum' : (TYPES[plainType] ?? null),
      isNullable: isNullable || kind === 'view' || kind === 'materialized view',
    })),
  };
}

interface RelationRow extends Pick<Relation, 'isReadable' | 'primaryKey' | 'unique'> {
  readonly relkind: string;
  readonly columns: readonly (Omit<RelationColumn, 'type'> & {
    readonly plainType: string;
    readonly typtype: string;
  })[];
}

const RELATION = `
  SELECT relkind,
    has_schema_privilege(relnamespace, 'USAGE') AND has_table_privilege(pg_class.oid, 'SELECT') AS "isReadable",
    ARRAY(SELECT attname::text FROM pg_index
      CROSS JOIN unnest(indkey::int2[]) WITH ORDINALITY key(attnum, at)
      JOIN pg_attribute USING (attnum)
      WHERE indrelid = pg_class.oid AND attrelid = pg_class.oid AND indisprimary AND at <= indnkeyatts ORDER BY at
    ) AS "primaryKey",
    ARRAY(SELECT DISTINCT attname::text FROM pg_index
      JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
      WHERE indrelid = pg_class.oid AND indisunique AND indisvalid AND indimmediate
      AND indnkeyatts = 1 AND indpred IS NULL
    ) AS unique,
    (SELECT coalesce(json_agg(json_build_object(
        'name', attname, 'sqlType', format_type(atttypid, atttypmod), 'plainType', format_type(atttypid, NULL),
        'typtype', typtype, 'isNullable', NOT attnotnull,
        'length', CASE WHEN atttypid IN ('varchar'::regtype, 'bpchar'::regtype) AND atttypmod > 4
          THEN atttypmod - 4 END,
        'values', CASE typtype WHEN 'e' THEN ARRAY(
          SELECT enumlabel::text FROM pg_enum WHERE enumtypid = atttypid ORDER BY enumsortorder
        ) END
      ) ORDER BY attnum), '[]')
      FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
      WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
    ) AS columns
  FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE nspname = $1 AND relname = $2`;

/**
 * Compares an external table with the entity that lists it. Columns that the entity does not name may be
 * there, and change. Empty for a resource with a table of its own.
 */
export async function externalDifferences(
  dataSource: DataSource,
  metadata: EntityMetadata,
): Promise<Difference[]> {
  const external = externalTableOf(metadata);
  if (!external) return [];
  const table = quotedTable(external);
  // Lists cannot be read, or show what the entity does not say.
  const found = (text: string, remedy: string): Difference[] => [
    { text, remedy, affectsColumns: true },
  ];
  const relation = await readRelation(dataSource, external);
  if (!relation) {
    return found(
      `there is no ${table}, which ${metadata.name} lists`,
      'have its owner bring it back, or remove the resource',
    );
  }
  if (!relation.isReadable) {
    return found(
      `the user of the service may not read ${table}`,
      `run GRANT USAGE ON SCHEMA and GRANT SELECT ON ${table} as its owner`,
    );
  }
  return [
    ...metadata.columns
      .filter(({ isVirtualProperty }) => !isVirtualProperty)
      .flatMap((column) => {
        const text = columnDifference(relation, column);
        const remedy = `change ${metadata.name}.${column.propertyName} to what the table has, or the table`;
        return text === undefined ? [] : found(`${text} in ${table}`, remedy);
      }),
    ...keyDifference(relation, identifierOf(metadata)).flatMap((text) =>
      found(`${text} in ${table}`, 'have its owner create a unique index'),
    ),
  ];
}

function columnDifference(relation: Relation, declared: ColumnMetadata): string | undefined {
  const { databaseName: name } = declared;
  const column = relation.columns.find((each) => each.name === name);
  if (!column) return `there is no column ${name}`;
  // What lists do not show may have any type.
  if (!declared.isSelect) return undefined;
  if (!isOfType(declared, column)) {
    return `the column ${name} is of the type ${column.sqlType}, and not ${typeNameOf(declared)}`;
  }
  if ((Number(declared.length) || Infinity) < (column.length ?? Infinity)) {
    return `the column ${name} is of the type ${column.sqlType}, longer than ${declared.length} characters`;
  }
  if (column.values !== null) {
    const [values, named] = [column.values, (declared.enum ?? []).map(String)];
    const further = values.filter((value) => !named.includes(value));
    if (further.length > 0) return `the column ${name} may also be ${further.join(', ')}`;
    // PostgreSQL refuses a comparison with a value that the type does not have.
    const missing = named.filter((value) => !values.includes(value));
    if (missing.length > 0) return `the column ${name} is never ${missing.join(', ')}`;
  }
  // Of a view nothing is known.
  const isKnown = relation.kind === 'table' || relation.kind === 'foreign table';
  return isKnown && column.isNullable && !declared.isNullable
    ? `the column ${name} may be null`
    : undefined;
}

function isOfType(declared: ColumnMetadata, { type }: RelationColumn): boolean {
  const names: readonly string[] = type === null ? [] : COLUMN_TYPES[type].columnTypes;
  return names.includes(typeNameOf(declared));
}

/** A table must say that its identifiers are unique. `catalogue verify` tries those of other relations. */
function keyDifference({ kind, unique }: Relation, { databaseName }: ColumnMetadata): string[] {
  return kind !== 'table' || unique.includes(databaseName)
    ? []
    : [`there is no unique index on ${databaseName} alone`];
}
