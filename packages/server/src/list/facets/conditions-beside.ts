import { columnsIn, type Condition } from '../condition/condition.js';
import type { VisibleListing } from '../visibility/visible-listing.js';

/**
 * The conditions under which a column of a list is counted: those of the list without what its filters say of the
 * column. What a client may not see is not counted, also for the columns of the scope itself.
 */
export function conditionsBeside(
  { scope, filters }: Pick<VisibleListing, 'scope' | 'filters'>,
  column: string,
): Condition[] {
  return [...scope, ...otherConditions(filters, column)];
}

/** The conditions of a list without what they say of one column. */
function otherConditions(conditions: readonly Condition[], column: string): Condition[] {
  return conditions.flatMap((condition): Condition[] => {
    if (condition.kind !== 'any') return columnsIn([condition]).includes(column) ? [] : [condition];
    const others = condition.of.map((each) => otherConditions(each, column));
    // An alternative that says nothing else admits every object.
    return others.some(({ length }) => length === 0) ? [] : [{ kind: 'any', of: others }];
  });
}
