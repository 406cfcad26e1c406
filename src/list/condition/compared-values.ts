import type { ComparedValue } from '../../resource/comparable.js';
import type { ColumnCondition, OtherComparison } from './condition.js';

/** The values that a condition compares a column with. */
export function comparedValues(condition: ColumnCondition): ComparedValue[] {
  switch (condition.kind) {
    case 'equal':
    case 'not':
      return condition.values.map((value) => ({ value }));
    case 'interval':
      return [condition.lower, condition.upper].flatMap((bound) =>
        bound ? [{ value: bound.value }] : [],
      );
    case 'overlap':
      return condition.values.map((value) => ({ value, isItem: true }));
    case 'comparison':
      return ofOperator(condition);
    case 'exists':
    case 'words':
    case 'identifiers':
    case 'path':
    case 'sql':
      return [];
  }
}

function ofOperator({ operator, value }: OtherComparison): ComparedValue[] {
  switch (operator) {
    case 'LIKE':
    case 'ILIKE':
      return [{ value, isPattern: true }];
    case '@>':
    case '<@':
      return (value as readonly unknown[]).map((item) => ({ value: item, isItem: true }));
    case '::jsonb @>':
      return [];
    default:
      return [{ value }];
  }
}
