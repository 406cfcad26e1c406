import { Brackets, type EntityMetadata, type ObjectLiteral, type Repository } from 'typeorm';
import type { ParameterSink } from '../../database/statement.js';
import { valueOf } from '../../resource/selection.js';
import { withOwnParameters } from './own-parameters.js';
import { isPlainCondition } from './plain-conditions.js';

/** Conditions on a table in SQL. */
export interface Where {
  /** `WHERE …`, or empty. Its parameters are the first ones of a statement. */
  readonly where: string;
  readonly values: readonly unknown[];
}

/**
 * The objects that match all of some conditions.
 *
 * @param table the name of the table in the statement
 */
export function whereOf(
  repository: Repository<ObjectLiteral>,
  conditions: readonly ObjectLiteral[],
  table = 'object',
): Where {
  if (conditions.length === 0) return { where: '', values: [] };
  const builder = repository.createQueryBuilder(table).select('1');
  for (const [at, condition] of withOwnParameters(conditions).entries()) {
    // An OR in SQL of one condition must not reach over the others.
    const isPlain = isPlainCondition(repository.metadata, conditions[at] ?? {});
    builder.andWhere(isPlain ? condition : new Brackets((bracketed) => bracketed.where(condition)));
  }
  const [text, values] = builder.getQueryAndParameters() as [string, unknown[]];
  const where = text.replace(/^SELECT 1 FROM (?:"[^"]+"\.)?"[^"]+" "\w+"/, '').trimStart();
  return { where: withComputed(repository.metadata, where, `"${table}"`), values };
}

/**
 * Conditions, without `WHERE`, with other texts for their parameters; `undefined` if there is none. Texts and
 * names stay as they are.
 */
export function placed({ where, values }: Where, parameters: ParameterSink): string | undefined {
  if (where === '') return undefined;
  const added = values.map((value) => parameters.add(value));
  return where
    .replace(/^WHERE /, '')
    .replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\d+)/g, (text, at?: string) =>
      at === undefined ? text : (added[Number(at) - 1] ?? text),
    );
}

/** Conditions in SQL with the queries of computed fields, which TypeORM takes for columns. */
function withComputed({ columns }: EntityMetadata, where: string, table: string): string {
  return columns
    .filter(({ isVirtualProperty }) => isVirtualProperty)
    .reduce((text, column) => {
      const name = `${table}."${column.databaseName}"`;
      return text.replaceAll(name, () => valueOf(column, table));
    }, where);
}

/** Adds conditions to a WHERE clause, which may be empty. */
export function and(where: string, ...conditions: string[]): string {
  if (conditions.length === 0) return where;
  return `${where === '' ? 'WHERE' : `${where} AND`} ${conditions.join(' AND ')}`;
}

/**
 * The same with the conditions before those that the clause has. PostgreSQL begins to read an index at the first
 * condition that gives a place in it: at a key of a page, and not at the end of an interval that contains the key.
 */
export function andFirst(where: string, ...conditions: string[]): string {
  const others = where === '' ? [] : [where.slice('WHERE '.length)];
  return and('', ...conditions, ...others);
}
