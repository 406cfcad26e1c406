import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { nameOf, resourcesOf } from '../resource/resource.js';
import type { Service } from './service.js';

type Row = Record<string, unknown>;

/** Loads the objects of other resources that some objects refer to, with their required columns. */
export async function loadReferenced(
  service: Service,
  resource: string,
  objects: readonly Row[],
): Promise<void> {
  const metadata = resourcesOf(service.dataSource).get(resource);
  for (const { columns, referencedEntityMetadata: target } of metadata?.foreignKeys ?? []) {
    const named = new Set(objects.map((object) => object[columns[0]?.propertyName ?? '']));
    const rows = [...named]
      .filter((value) => typeof value === 'string' || typeof value === 'number')
      .map((value, at, all) => {
        const row = required(target, value);
        const parent = target.foreignKeys.find((key) => key.referencedEntityMetadata === target);
        const [column] = parent?.columns ?? [];
        // In a tree, the third and those after it are below the second.
        return column && at > 1 ? { ...row, [column.propertyName]: all[1] } : row;
      });
    const name = nameOf(target);
    if (name === resource || rows.length === 0) continue;
    await loadReferenced(service, name, rows);
    await service.load(name, rows);
  }
}

/** An object with its identifier and its required columns. */
function required(metadata: EntityMetadata, identifier: string | number): Row {
  const columns = metadata.columns.filter(
    (column) =>
      !column.isNullable &&
      !column.isCreateDate &&
      !column.isUpdateDate &&
      column.isSelect &&
      column.default === undefined,
  );
  return Object.fromEntries(
    columns.map((column) => [
      column.propertyName,
      column.isPrimary ? identifier : someValue(column, String(identifier)),
    ]),
  );
}

function someValue({ type, enum: values, length, isArray }: ColumnMetadata, text: string): unknown {
  if (values) return values[0];
  if (isArray) return [];
  switch (type) {
    case 'varchar':
      return text.slice(0, Number(length));
    case 'timestamptz':
      return '2026-01-01T00:00:00.000Z';
    case 'boolean':
      return true;
    case 'uuid':
      return '00000000-0000-4000-8000-000000000000';
    case 'date':
      return '2026-01-01';
    case 'text':
      return text;
    case 'jsonb':
      return {};
    default:
      return 1;
  }
}
