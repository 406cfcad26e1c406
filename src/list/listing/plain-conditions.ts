import {
  type EntityMetadata,
  FindOperator,
  type FindOperatorType,
  type ObjectLiteral,
} from 'typeorm';
import { alternativesOf } from './alternatives.js';
import { type IdentifierQuery, identifierQueryOf } from './identifier-queries.js';
import { pathOf } from './path.js';

/**
 * Whether a condition only compares columns of its own table with values, or with what is looked up in
 * resources that a `Listing` names. Any other condition may read other data, such as SQL in `Raw`, a
 * computed field, or an identifier query within another operator.
 */
export function isPlainCondition(metadata: EntityMetadata, condition: ObjectLiteral): boolean {
  return alternativesOf(condition).every((alternative) =>
    Object.entries(alternative).every(([name, value]: [string, unknown]) => {
      const column = metadata.findColumnWithPropertyName(name);
      if (!column || column.isVirtualProperty) return false;
      const query = identifierQueryOf(value);
      return query ? isPlainQuery(query) : isPlainValue(value);
    }),
  );
}

function isPlainQuery({ visible }: IdentifierQuery): boolean {
  return (
    !visible ||
    visible.conditions.every((condition) => isPlainCondition(visible.metadata, condition))
  );
}

function isPlainValue(value: unknown): boolean {
  if (pathOf(value)) return true;
  if (!(value instanceof FindOperator)) {
    return value === null || typeof value !== 'object' || value instanceof Date;
  }
  if (value.child) return COMPARISONS.has(value.type) && isPlainValue(value.child);
  if (value.type === 'and' || value.type === 'or') {
    return (value.value as unknown as readonly unknown[]).every(isPlainValue);
  }
  // These operators send their operand as a parameter value.
  return COMPARISONS.has(value.type);
}

const COMPARISONS: ReadonlySet<FindOperatorType> = new Set([
  'not',
  'lessThan',
  'lessThanOrEqual',
  'moreThan',
  'moreThanOrEqual',
  'equal',
  'between',
  'in',
  'any',
  'isNull',
  'ilike',
  'like',
  'arrayContains',
  'arrayContainedBy',
  'arrayOverlap',
  'jsonContains',
]);
