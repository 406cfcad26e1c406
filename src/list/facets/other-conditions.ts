import { columnsIn, type Condition } from '../condition/condition.js';

/** The conditions of a list without what they say of one column. */
export function otherConditions(conditions: readonly Condition[], column: string): Condition[] {
  return conditions.flatMap((condition): Condition[] => {
    if (condition.kind !== 'any') return columnsIn([condition]).includes(column) ? [] : [condition];
    const others = condition.of.map((each) => otherConditions(each, column));
    // An alternative that says nothing else admits every object.
    return others.some(({ length }) => length === 0) ? [] : [{ kind: 'any', of: others }];
  });
}
