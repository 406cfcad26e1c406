import { getMetadataArgsStorage, type ObjectType } from 'typeorm';
import { type FilterEnd, readingsOf } from './filter-forms.js';

/** What the name of a filter says. */
interface NamedColumn {
  readonly end: FilterEnd;
  /** The property of the column that it compares. */
  readonly column: string;
}

/** What filters are called by the times that TypeORM sets, whose columns may have any name. */
const TIMES: Readonly<Record<string, string>> = {
  createdAt: 'createDate',
  updatedAt: 'updateDate',
};

/** What the names of filters say, by the entity. Every request asks for some. */
const NAMED = new WeakMap<object, Map<string, NamedColumn | undefined>>();

/** What the name of a filter says of an entity, as `FILTER_FORMS` has it; `undefined` if it names no column. */
export function namedColumn(entity: object, filter: string): NamedColumn | undefined {
  const known = NAMED.get(entity) ?? new Map<string, NamedColumn | undefined>();
  NAMED.set(entity, known);
  if (!known.has(filter)) known.set(filter, read(entity as ObjectType<unknown>, filter));
  return known.get(filter);
}

function read(entity: ObjectType<unknown>, filter: string): NamedColumn | undefined {
  const columns = getMetadataArgsStorage().filterColumns(entity);
  for (const { end, column } of readingsOf(filter)) {
    const found =
      columns.find(({ mode }) => mode === TIMES[column]) ??
      columns.find(({ propertyName }) => propertyName === column);
    if (found) return { end, column: found.propertyName };
  }
  return undefined;
}
