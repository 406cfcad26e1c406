import { consecutive } from '../../database/planner.js';
import { branchesOf, branchOrderBy, type OrderKey } from '../listing/order.js';

/** Which objects of a list are read. All but the last are SQL expressions. */
export interface Section {
  readonly limit: string;
  readonly offset?: string | undefined;
  /** Whether the objects are read from the end of the list. */
  readonly isReverse?: boolean;
}

/**
 * Selects objects in the order of a list as an index has it, branch by branch.
 *
 * @param select selects objects in an order, without LIMIT
 */
export function inBranches(
  { order }: { readonly order: readonly OrderKey[] },
  { limit, offset = '0', isReverse = false }: Section,
  select: (ordering: string, ...branch: readonly string[]) => string,
): string {
  const ordering = branchOrderBy(order, isReverse);
  const page = `LIMIT ${limit} OFFSET ${offset}`;
  const branches = branchesOf(order);
  if (branches.length === 0) return `${select(ordering)} ${page}`;
  const parts = (isReverse ? branches.toReversed() : branches).map(
    (branch) => `${select(ordering, branch)} LIMIT ${limit} + ${offset}`,
  );
  return consecutive(parts, page);
}
