import type { ObjectLiteral } from 'typeorm';

/**
 * The conditions of a list without what they say of one column. A condition is an object with an entry for
 * each column, combined with AND, or an array of such objects, combined with OR.
 */
export function otherConditions(
  conditions: readonly ObjectLiteral[],
  column: string,
): ObjectLiteral[] {
  return conditions.flatMap((condition) => {
    const alternatives = (Array.isArray(condition) ? condition : [condition]) as ObjectLiteral[];
    const others = alternatives.map((each) => without(each, column));
    // An alternative that says nothing else admits every object.
    if (others.some((each) => Object.keys(each).length === 0)) return [];
    return [Array.isArray(condition) ? others : (others[0] ?? {})];
  });
}

function without(condition: ObjectLiteral, column: string): ObjectLiteral {
  return Object.fromEntries(Object.entries(condition).filter(([name]) => name !== column));
}
