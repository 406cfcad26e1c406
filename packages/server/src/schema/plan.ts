import type { EntityManager, DataSource } from 'typeorm';

/** A node of a plan, of `EXPLAIN (FORMAT JSON)`. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** The plan nodes of a statement, with sequential scans and sorts only if there is no other way. */
export function plan(
  dataSource: DataSource,
  text: string,
  values: readonly unknown[],
): Promise<PlanNode[]> {
  return avoidingScans(dataSource, (manager) => explained(manager, text, values));
}

/** The plan of a statement with parameters of which no values are known. */
export function genericPlan(dataSource: DataSource, text: string): Promise<PlanNode[]> {
  return avoidingScans(dataSource, async (manager) => {
    await manager.query('SET LOCAL plan_cache_mode = force_generic_plan');
    await manager.query(`PREPARE planned AS ${text}`);
    const parameters = [...new Set(text.match(/\$\d+/g))].map(() => 'NULL').join();
    const nodes = await explained(manager, `EXECUTE planned${parameters && `(${parameters})`}`, []);
    await manager.query('DEALLOCATE planned');
    return nodes;
  });
}

/**
 * Whether a statement reads every table by a condition on an index. For its values PostgreSQL may prefer an index of some
 * rows, which it reads without a condition; for any values it takes one of all rows.
 */
export async function isServed(
  dataSource: DataSource,
  text: string,
  values: readonly unknown[],
): Promise<boolean> {
  return (
    usesIndexes(await plan(dataSource, text, values)) ||
    usesIndexes(await genericPlan(dataSource, text))
  );
}

function avoidingScans<T>(
  dataSource: DataSource,
  work: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  return dataSource.transaction(async (manager) => {
    await manager.query('SET LOCAL enable_seqscan = off');
    await manager.query('SET LOCAL enable_sort = off');
    // A scan of a whole index that carries the column is no help.
    await manager.query('SET LOCAL enable_indexonlyscan = off');
    return work(manager);
  });
}

async function explained(
  manager: EntityManager,
  text: string,
  values: readonly unknown[],
): Promise<PlanNode[]> {
  const [row] = await manager.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }[]>(
    `EXPLAIN (FORMAT JSON) ${text}`,
    [...values],
  );
  const flat = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(flat)];
  return (row?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => flat(Plan));
}

/** Whether a plan reads every table by a condition on an index. What is behind a foreign table is unknown. */
export function usesIndexes(nodes: readonly PlanNode[]): boolean {
  return nodes
    .filter(({ 'Node Type': type }) => type.endsWith('Scan') && !NO_TABLE.has(type))
    .every((node) => node['Index Cond'] !== undefined || node['Node Type'] === 'Bitmap Heap Scan');
}

/** Nodes that read the rows of another node, or of another server. */
const NO_TABLE = new Set(['Subquery Scan', 'CTE Scan', 'Foreign Scan']);

/** Whether a plan needs no sort of all rows. How a foreign table sorts them is unknown. */
export function isInOrder(nodes: readonly PlanNode[]): boolean {
  return isForeign(nodes) || nodes.every(({ 'Node Type': type }) => type !== 'Sort');
}

/** Whether a plan reads a foreign table. */
export function isForeign(nodes: readonly PlanNode[]): boolean {
  return nodes.some(({ 'Node Type': type }) => type === 'Foreign Scan');
}
