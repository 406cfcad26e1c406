import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { typeNameOf } from '../../resource/column-values.js';
import { type ComparedValue, fittingInstead } from '../../resource/comparable.js';
import { columnConditions, comparedValues } from '../condition/condition.js';
import type { Listing } from '../listing/listing.js';

/** The comparisons in the filters of a list. SQL, identifier queries and values within JSON are left out. */
export function comparisonsIn({
  repository,
  filters,
}: Listing): (ComparedValue & { readonly column: ColumnMetadata })[] {
  return columnConditions(filters).flatMap((condition) => {
    const column = repository.metadata.findColumnWithPropertyName(condition.column);
    return column ? comparedValues(condition).map((value) => ({ column, ...value })) : [];
  });
}

/**
 * What a list compares with values that the type of the column does not have, as lines: PostgreSQL refuses the
 * statement, or finds other objects than those that the client asks for.
 *
 * @param parameter the filter that it has
 */
export function misfitsOf(list: Listing, parameter: string): string[] {
  const { name } = list.repository.metadata;
  return comparisonsIn(list).flatMap(({ column, ...compared }) => {
    const fitting = fittingInstead(column, compared);
    if (fitting === undefined) return [];
    const what = compared.isPattern ? 'a pattern of a text' : String(compared.value);
    return `the filter ${parameter} compares ${name}.${column.propertyName}, of type ${typeNameOf(column)}, with ${what}${fitting}`;
  });
}
