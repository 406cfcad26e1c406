import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { ForeignKeyMetadata } from 'typeorm/metadata/ForeignKeyMetadata.js';

interface Step {
  readonly from: EntityMetadata;
  readonly column: ColumnMetadata;
}

/**
 * How to load resources that refer to each other in a circle, such as teams with captains, for a message; empty if the
 * target of a reference does not lead back to its resource.
 */
export function stepsOfCircle(
  from: EntityMetadata,
  column: ColumnMetadata,
  target: EntityMetadata,
): string {
  const way = wayTo(from, target, new Set());
  if (!way) return '';
  const circle = [{ from, column }, ...way];
  // One of the references must wait until all objects are there.
  const at = circle.findIndex((step) => step.column.isNullable);
  const [first, ...others] = [...circle.slice(at), ...circle.slice(0, Math.max(0, at))];
  if (at < 0 || !first) return '';
  const name = first.from.tableName;
  const rest = others.map((step) => step.from.tableName).reverse();
  return `, which refer to ${from.tableName} in turn: first import ${name} with --set ${first.column.propertyName}=, then ${rest.join(', ')}, then ${name} without it`;
}

/** Whether an object can be written before one that it refers to, which refers to it in turn, by way of others or not. */
export function canWait({
  columns,
  referencedEntityMetadata: target,
  entityMetadata: from,
}: ForeignKeyMetadata): boolean {
  return (
    target !== from &&
    columns[0]?.isNullable === true &&
    wayTo(from, target, new Set()) !== undefined
  );
}

/** The references that lead from a resource to another one. */
function wayTo(
  goal: EntityMetadata,
  from: EntityMetadata,
  seen: Set<EntityMetadata>,
): Step[] | undefined {
  if (seen.has(from)) return undefined;
  seen.add(from);
  for (const { columns, referencedEntityMetadata: target } of from.foreignKeys) {
    const [column] = columns;
    const rest = target === goal ? [] : wayTo(goal, target, seen);
    if (column && rest) return [{ from, column }, ...rest];
  }
  return undefined;
}
