import type { ObjectLiteral } from 'typeorm';
import { alternativesOf } from '../listing/alternatives.js';

/** The conditions of a list without what they say of one column. */
export function otherConditions(
  conditions: readonly ObjectLiteral[],
  column: string,
): ObjectLiteral[] {
  return conditions.flatMap((condition) => {
    const others = alternativesOf(condition).map((each) => without(each, column));
    // An alternative that says nothing else admits every object.
    if (others.some((each) => Object.keys(each).length === 0)) return [];
    return [Array.isArray(condition) ? others : (others[0] ?? {})];
  });
}

function without(condition: ObjectLiteral, column: string): ObjectLiteral {
  return Object.fromEntries(Object.entries(condition).filter(([name]) => name !== column));
}
