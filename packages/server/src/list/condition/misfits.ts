import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { typeNameOf } from '../../resource/column-values.js';
import { type ComparedValue, fittingInstead } from '../../resource/comparable.js';
import { columnConditions, comparedValues, type Condition } from './condition.js';

/** The comparisons of conditions. SQL, identifier queries and values within JSON are left out. */
export function comparisonsIn(
  metadata: EntityMetadata,
  conditions: readonly Condition[],
): (ComparedValue & { readonly column: ColumnMetadata })[] {
  return columnConditions(conditions).flatMap((condition) => {
    const column = metadata.findColumnWithPropertyName(condition.column);
    return column ? comparedValues(condition).map((value) => ({ column, ...value })) : [];
  });
}

/**
 * What conditions compare with values that the type of the column does not have, as lines: PostgreSQL refuses the
 * statement, or finds other objects than those that the client asks for.
 */
export function misfitsIn(metadata: EntityMetadata, conditions: readonly Condition[]): string[] {
  return comparisonsIn(metadata, conditions).flatMap(({ column, ...compared }) => {
    const fitting = fittingInstead(column, compared);
    if (fitting === undefined) return [];
    const what = compared.isPattern ? 'a pattern of a text' : String(compared.value);
    return `compares ${metadata.name}.${column.propertyName}, of type ${typeNameOf(column)}, with ${what}${fitting}`;
  });
}
