import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { COLUMN_TYPES } from '../resource/column-types.js';
import { typeNameOf } from '../resource/column-values.js';
import { externalTableOf, identifierOf, quotedTable } from '../resource/resource.js';
import type { Difference } from './difference.js';
import { readRelation, type Relation, type RelationColumn } from './external-table.js';

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
