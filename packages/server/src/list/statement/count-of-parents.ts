import { ParameterValues } from '../../database/statement.js';
import type { Condition } from '../condition/condition.js';
import { identifiersText } from '../condition/print.js';

/**
 * An SQL expression for the number of objects that have a child with given values; `undefined` if the list has any other
 * condition. It counts the different parents that these children refer to, and reads no parent. Its parameters are those
 * of the conditions, which are the first ones of a statement.
 */
export function countOfParents([condition, ...others]: readonly Condition[]): string | undefined {
  if (condition?.kind !== 'identifiers' || others.length > 0) return undefined;
  const { query } = condition;
  if (!query.isOfListed) return undefined;
  const children = identifiersText(query, new ParameterValues());
  return `(SELECT count(DISTINCT "${query.selected}") FROM (${children}) child)`;
}
