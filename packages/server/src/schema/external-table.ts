import type { DataSource } from 'typeorm';
import type { ColumnTypeName } from '../resource/column-types.js';
import type { ExternalTable } from '../resource/declaration.js';

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
