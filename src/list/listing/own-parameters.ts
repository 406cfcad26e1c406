import { And, FindOperator, Not, type ObjectLiteral, Or, Raw } from 'typeorm';
import { mapCompared } from './alternatives.js';

/**
 * Conditions whose parameters in `Raw` have names of their own, so that two conditions of one statement may
 * both use `:name`. TypeORM has one set of names for a whole statement, and replaces them in any text: a
 * parameter `text` also in the cast `::text`.
 */
export function withOwnParameters(conditions: readonly ObjectLiteral[]): ObjectLiteral[] {
  let operators = 0;
  const own = (value: unknown): unknown => {
    if (!(value instanceof FindOperator)) return value;
    if (value.type === 'not' && value.child) return Not(own(value.child));
    if (value.type === 'and' || value.type === 'or') {
      const operands = (value.value as unknown as readonly unknown[]).map(own);
      return (value.type === 'and' ? And : Or)(...(operands as FindOperator<unknown>[]));
    }
    const { getSql, objectLiteralParameters } = value;
    if (value.type !== 'raw' || !getSql || !objectLiteralParameters) return value;
    operators += 1;
    const prefix = `raw${operators}_`;
    const values = Object.entries(objectLiteralParameters).map(
      ([name, each]: [string, unknown]) => [prefix + name, each],
    );
    return Raw(
      (column) => renamed(getSql(column), objectLiteralParameters, prefix),
      Object.fromEntries(values) as ObjectLiteral,
    );
  };
  return conditions.map((condition) => mapCompared(condition, own));
}

/**
 * The parts of a statement: first those in which a colon begins no parameter, which are texts, quoted names,
 * comments and casts, then a parameter as TypeORM writes it.
 */
const PARTS =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|(\$\w*\$)[\s\S]*?\1|::|:(\.\.\.)?([A-Za-z0-9_.]+)/g;

function renamed(sql: string, parameters: ObjectLiteral, prefix: string): string {
  return sql.replace(
    PARTS,
    (part: string, _quote: unknown, spread: string | undefined, name: string | undefined) =>
      name !== undefined && Object.hasOwn(parameters, name)
        ? `:${spread ?? ''}${prefix}${name}`
        : part,
  );
}
