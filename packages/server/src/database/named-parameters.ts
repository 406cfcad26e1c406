import type { ObjectLiteral } from 'typeorm';
import type { ParameterValues } from './statement.js';

/**
 * The parts of SQL: first those in which a colon begins no parameter, which are texts, quoted names,
 * comments and casts, then a parameter as TypeORM writes it.
 */
const PARTS =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|(\$\w*\$)[\s\S]*?\1|::|:(\.\.\.)?([A-Za-z0-9_.]+)/g;

/** SQL of `Raw` with `$1` … in place of its parameters: `:name`, and `:...name` for each value of a list. */
export function withParameters(
  sql: string,
  values: ObjectLiteral,
  parameters: ParameterValues,
): string {
  const added = new Map<string, string>();
  return sql.replace(
    PARTS,
    (part: string, _quote: unknown, spread: string | undefined, name: string | undefined) => {
      if (name === undefined || !Object.hasOwn(values, name)) return part;
      const value: unknown = values[name];
      if (spread) {
        return (value as readonly unknown[]).map((each) => parameters.add(each)).join(', ');
      }
      const parameter = added.get(name) ?? parameters.add(value);
      added.set(name, parameter);
      return parameter;
    },
  );
}
