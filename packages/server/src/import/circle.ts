import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';

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
