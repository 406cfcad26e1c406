import type { EntityMetadata } from 'typeorm';
import { type ColumnCondition, columnConditions } from '../list/condition/condition.js';
import type { CalledLists } from './called-lists.js';
import { hasOwnTable, identifierOf } from '../resource/resource.js';
import { declaredColumns, orderedBy } from '../resource/declaration.js';

/** The filters by times of every entity, for copies, which need no order: a time in every index costs each write. */
const TIME_FILTERS = new Set(['updatedSince', 'updatedUntil', 'createdSince', 'createdUntil']);

/**
 * The filters whose column no index of a sort carries, as lines with the remedy. For such a filter and
 * sort together PostgreSQL reads and sorts all matching objects, or reads all objects in the order of
 * the sort. Columns that are declared as filtered but too long to be carried are not reported.
 */
export function uncarriedFilters(called: CalledLists): string[] {
  // External tables have no index that follows from an entity.
  const lists = called.lists.filter(({ metadata }) => hasOwnTable(metadata));
  const found: string[] = [];
  for (const { metadata, parameter, listing } of lists) {
    if (parameter === 'sort' || TIME_FILTERS.has(parameter)) continue;
    const query = listing.query.constructor;
    const sorts = lists
      .filter((other) => other.parameter === 'sort' && other.listing.query.constructor === query)
      .flatMap((other) => (other.listing.query.sort ?? []).map(({ field }) => field))
      .filter((field) =>
        declaredColumns(metadata).sorted.includes(orderedBy(metadata.target, field)),
      );
    for (const condition of columnConditions(listing.filters)) {
      const { column } = condition;
      const uncarried = sorts.filter((sort) => orderedBy(metadata.target, sort) !== column);
      if (uncarried.length === 0 || !needsCarrying(metadata, condition)) continue;
      found.push(
        `no index serves the filter ${parameter} of ${metadata.tableName} with the sort ` +
          `${uncarried.join(' or ')}: add ${column} to filtered`,
      );
    }
  }
  return found;
}

function needsCarrying(metadata: EntityMetadata, condition: ColumnCondition): boolean {
  const { kind, column: property } = condition;
  const column = metadata.findColumnWithPropertyName(property);
  // A B-tree cannot carry the words of a text, the items of an array, nor what is computed, in a field or by SQL.
  if (!column || column === identifierOf(metadata)) return false;
  if (kind === 'sql') return false;
  if (column.type === 'tsvector' || column.isArray || column.isVirtualProperty) return false;
  if (declaredColumns(metadata).filtered.includes(property)) return false;
  // Few objects have the same free text, so that sorting them is cheap.
  const isReference = metadata.foreignKeys.some(({ columns }) => columns.includes(column));
  const isCounted = declaredColumns(metadata).counted.some((columns) => columns.includes(property));
  return (
    !['varchar', 'text'].includes(String(column.type)) ||
    isReference ||
    isCounted ||
    kind !== 'equal'
  );
}
