import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { columnTypeOf, type StoredType } from '../resource/column-values.js';
import { declaredShape, exampleOfShape } from '../resource/json-shape.js';
import { nameOf, resourcesOf } from '../resource/resource.js';
import type { Service } from './service.js';

type Row = Record<string, unknown>;

/** The value of some columns of the object at a place, by column. */
export type MadeValues = Readonly<Record<string, (at: number) => unknown>>;

/** Few enough for `describeList` to walk through them with each filter, and more than a page. */
const COUNT = 60;

/**
 * Objects of a resource with a value in each column that is written, as a response has it. Several objects share each
 * value that is no identifier, and every fifth has none where it may.
 *
 * @param values in place of the values that are made
 */
export function madeObjects(metadata: EntityMetadata, values: MadeValues = {}): Row[] {
  const columns = metadata.columns.filter(
    (column) =>
      column.isInsert &&
      !column.isVirtualProperty &&
      !column.isUpdateDate &&
      column.generatedType === undefined,
  );
  return Array.from({ length: COUNT }, (_, at) =>
    Object.fromEntries(
      columns.map((column, place) => {
        const { [column.propertyName]: given } = values;
        return [column.propertyName, given ? given(at) : valueOf(column, place, at)];
      }),
    ),
  );
}

/** The identifier at a place, among those of a column: in no order, and with every difficulty of a path. */
function madeIdentifier(column: ColumnMetadata, at: number): unknown {
  switch (columnTypeOf(column)) {
    case 'integer':
      return 3 * at - 20;
    case 'bigint':
      // Numbers that JavaScript would round.
      return String(9_007_199_254_740_993n * BigInt(at - 8));
    case 'uuid':
      return `${at % 2 ? 'f' : '0'}23e4567-e89b-42d3-a456-4266141740${String(at).padStart(2, '0')}`;
    default:
      return Number(column.length || Infinity) < 8
        ? `${at}`
        : `${['p', 'P', 'é', 'p/', 'p ', 'p%'][at % 6]}-${at}`;
  }
}

function valueOf(column: ColumnMetadata, place: number, at: number): unknown {
  const { entityMetadata, propertyName } = column;
  if (column.isPrimary) return madeIdentifier(column, at);
  const key = entityMetadata.foreignKeys.find(({ columns }) => columns.includes(column));
  const target = key?.referencedColumns[0];
  if (target && key.referencedEntityMetadata === entityMetadata) {
    // A tree with three roots and several levels.
    return at < 3 ? null : madeIdentifier(target, Math.floor(at / 3) - 1);
  }
  if (column.isNullable && (at + place) % 5 === 0) return null;
  // Columns change at different places, so that each value of one occurs with several of another.
  const n = Math.floor(at / (1 + (place % 3))) + place;
  if (target) return madeIdentifier(target, n % 3);
  const type = columnTypeOf(column);
  if (!type) {
    throw new Error(
      `Nothing can be made for ${propertyName}, of the type ${String(column.type)}: give describeList its values`,
    );
  }
  return MADE[type](isUnique(column) ? at : n % 4, column);
}

/** Values of a type, by number. Four of them differ in ways that an order or a comparison may get wrong. */
const MADE: Readonly<Record<StoredType, (n: number, column: ColumnMetadata) => unknown>> = {
  text: (n, { length }) => {
    const text = `${['Äpfel "Birnen"', 'Zoë, cup', 'steel cup', 'Steel\\cup'][n % 4]} ${n}`;
    return Array.from(text)
      .slice(0, Number(length || Infinity))
      .join('');
  },
  integer: (n) => 9 * n - 7,
  bigint: (n) => String(9_007_199_254_740_993n * BigInt(n - 1)),
  uuid: (n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  decimal: (n, { scale }) =>
    scale === undefined ? ['-0.5', '9.99', '10.0', '1000.5'][n % 4] : (n - 0.5).toFixed(scale),
  double: (n) => n / 3 - 0.1,
  boolean: (n) => n % 2 === 1,
  // Over the end of a February of 29 days.
  date: (n) => new Date(Date.UTC(2024, 1, 27 + n)).toISOString().slice(0, 10),
  'date-time': (n) => new Date(Date.UTC(2026, 0, 1, n, 0, 0, 100 * (n % 2))).toISOString(),
  enum: (n, { enum: values = [] }) => values[n % values.length],
  texts: (n) => (n === 3 ? [] : [`t${n}`, 'a "b", c\\', 'u']),
  integers: (n) => (n === 3 ? [] : [n, -7]),
  json: (n, { target, propertyName }) => {
    const { shape } = typeof target === 'function' ? declaredShape(target, propertyName) : {};
    return shape ? exampleOfShape(shape) : { n, list: [n, null, 'Größe'] };
  },
};

/** Whether no two objects may have the same value in a column. */
function isUnique(column: ColumnMetadata): boolean {
  const { indices, uniques } = column.entityMetadata;
  return [...indices.filter((index) => index.isUnique), ...uniques].some(
    ({ columns }) => columns.length === 1 && columns[0] === column,
  );
}

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
        const row = required(target, value, at);
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

/** An object with its identifier and its required columns. Texts are the identifier. */
function required(metadata: EntityMetadata, identifier: string | number, at: number): Row {
  const columns = metadata.columns.filter(
    (column) =>
      !column.isNullable &&
      !column.isCreateDate &&
      !column.isUpdateDate &&
      column.isSelect &&
      column.default === undefined,
  );
  return Object.fromEntries(
    columns.map((column) => {
      const { isPrimary, length, propertyName } = column;
      const type = columnTypeOf(column) ?? 'text';
      if (isPrimary) return [propertyName, identifier];
      if (type === 'text')
        return [propertyName, String(identifier).slice(0, Number(length) || Infinity)];
      return [propertyName, MADE[type](isUnique(column) ? at : 1, column)];
    }),
  );
}
