import { branchesOf, branchOrderBy, type OrderKey } from '../listing/order.js';

/**
 * No limit, which the planner does not know of. It assumes that a tenth of the rows is read, so that it
 * prefers an index in the order of the list to a sort.
 */
export const NO_LIMIT = '(SELECT NULL::bigint)';

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

/**
 * Selects the objects of several parts, one part behind the other. PostgreSQL reads the parts of UNION ALL in this
 * order, as long as the page needs more objects. Each part must have a LIMIT: others may be read in parallel.
 *
 * @param page LIMIT and OFFSET
 */
export function consecutive(parts: readonly string[], page: string): string {
  const all = parts.map((part) => `(${part})`).join(' UNION ALL ');
  return parts.length === 1 ? all : `SELECT * FROM (${all}) object ${page}`;
}
