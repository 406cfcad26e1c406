import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { ParameterValues } from '../../database/statement.js';
import { typeNameOf } from '../../resource/column-values.js';
import { type ComparedValue, fittingInstead } from '../../resource/comparable.js';
import { declaredColumns } from '../../resource/declaration.js';
import type { EntityColumn } from '../../resource/visibility.js';
import type { SearchText } from '../query/search-text.js';

/** What a condition of `containsWords` searches for. */
export interface WordSearch extends SearchText {
  /** The searched column, by its name in the database. */
  readonly column: string;
  /** The columns of which one may equal the whole text: those whose type has it. */
  readonly identifiers: readonly Identifying[];
  /** The properties of all columns that another text may equal. */
  readonly compared: readonly string[];
}

/** A column that may equal the whole text of a search. */
export interface Identifying {
  /** In the database. */
  readonly name: string;
  /** In SQL. */
  readonly type: string;
  /** Whether the words of an object are made of it, too. */
  readonly isInWords: boolean;
}

/**
 * What a list says of its objects. `conditionsFrom` makes it once, of what an author writes. Several conditions are
 * combined with AND. A column is the name of a property of the entity.
 */
export type Condition =
  | ColumnCondition
  /** One of several alternatives. */
  | { readonly kind: 'any'; readonly of: readonly (readonly Condition[])[] }
  | { readonly kind: 'negation'; readonly of: readonly Condition[] };

/** A condition on one column. */
export type ColumnCondition =
  | Comparison
  | (OnColumn &
      (
        | { readonly kind: 'words'; readonly search: WordSearch }
        /** The column has one of the identifiers that a query finds. */
        | { readonly kind: 'identifiers'; readonly query: IdentifierQuery }
        /** An author's own SQL, of which nothing is known. */
        | { readonly kind: 'sql'; readonly sql: OpaqueSql }
      ));

interface OnColumn {
  readonly column: string;
}

/** A comparison of a column with values. */
export type Comparison =
  | Equal
  | Excluding
  | (OnColumn &
      (
        | { readonly kind: 'exists'; readonly exists: boolean }
        /** An array has an item, or it has none: it is null or empty. */
        | { readonly kind: 'filled'; readonly isFilled: boolean }
        /** An array has none of these items. It may be null. */
        | { readonly kind: 'lacks'; readonly items: readonly unknown[] }
        /** The value of the column is between bounds, of which at least one is present. */
        | { readonly kind: 'interval'; readonly lower?: Bound; readonly upper?: Bound }
        /** A comparison that the tally does not know, but for an array with one item. */
        | { readonly kind: 'comparison'; readonly operator: Operator; readonly value: unknown }
      ));

/** The column has this value, or one of several. */
interface Equal extends OnColumn {
  readonly kind: 'equal';
  readonly values: readonly unknown[];
}

/** The column has none of these values. It may have no value. */
interface Excluding extends OnColumn {
  readonly kind: 'not';
  readonly values: readonly unknown[];
}

export interface Bound {
  readonly value: unknown;
  /** Whether the interval contains the value itself. */
  readonly inclusive: boolean;
}

/** The value of `&&`, `@>` and `<@` is an array. */
export type Operator =
  ('!=' | '<' | '<=' | '>' | '>=' | 'LIKE' | 'ILIKE') | ('&&' | '@>' | '<@') | '::jsonb @>';

/**
 * Prints SQL.
 *
 * @param column the column in SQL, such as `object."price"`
 * @param values takes those that the SQL compares with
 * @param table that of the column
 */
export type OpaqueSql = (column: string, values: ParameterValues, table: string) => string;

/** A query for identifiers of a resource's objects. */
export interface IdentifierQuery {
  /** The resource. */
  readonly metadata: EntityMetadata;
  /** Columns of the resource that the query compares with values, by an index at best. */
  readonly columns: readonly string[];
  /** The column of the resource whose values the query selects. */
  readonly selected: string;
  /** Whether that column is a foreign key to the listed objects, so that each of its values identifies one. */
  readonly isOfListed?: boolean;
  /**
   * Its text, which selects the identifiers.
   *
   * @param values takes those that it compares with
   * @param visible the end of a WHERE clause, for a table of the resource by its name: it is visible
   */
  readonly text: (values: ParameterValues, visible: (table: string) => string) => string;
  /** What a client sees of the resource. Absent before `withVisible`. */
  readonly visible?: readonly Condition[];
}

/** The conditions on single columns of which conditions consist. */
export function columnConditions(conditions: readonly Condition[]): ColumnCondition[] {
  return conditions.flatMap((condition) => {
    if (condition.kind === 'any') return columnConditions(condition.of.flat());
    return condition.kind === 'negation' ? columnConditions(condition.of) : [condition];
  });
}

/** The columns that conditions read; `undefined` if there is SQL, which may read any. */
export function readColumns(
  metadata: EntityMetadata,
  conditions: readonly Condition[],
): EntityColumn[] | undefined {
  const read: EntityColumn[] = [];
  for (const condition of columnConditions(conditions)) {
    if (condition.kind === 'sql') return undefined;
    read.push([metadata.target as object, condition.column]);
    if (condition.kind === 'words') {
      // A client that sees the words sees what they are made of.
      const made = declaredColumns(metadata).derived[condition.column] ?? [];
      for (const name of condition.search.compared.filter((each) => !made.includes(each))) {
        read.push([metadata.target as object, name]);
      }
    }
    if (condition.kind !== 'identifiers') continue;
    const { metadata: other, columns, selected } = condition.query;
    for (const { databaseName, propertyName } of other.columns) {
      if (![...columns, selected].includes(databaseName)) continue;
      read.push([other.target as object, propertyName]);
    }
  }
  return read;
}

export function columnsIn(conditions: readonly Condition[]): string[] {
  return columnConditions(conditions).map(({ column }) => column);
}

/** Conditions with each condition on one column replaced. */
export function replaceIn(
  conditions: readonly Condition[],
  replace: (condition: ColumnCondition) => Condition,
): Condition[] {
  return conditions.map((condition) => {
    if (condition.kind === 'negation') {
      return { ...condition, of: replaceIn(condition.of, replace) };
    }
    return condition.kind === 'any'
      ? { ...condition, of: condition.of.map((each) => replaceIn(each, replace)) }
      : replace(condition);
  });
}

/** Conditions that look up identifiers of visible objects only, with what is visible of a resource. */
export function withVisible(
  conditions: readonly Condition[],
  visible: (metadata: EntityMetadata) => readonly Condition[],
): Condition[] {
  return replaceIn(conditions, (condition) => {
    if (condition.kind !== 'identifiers') return condition;
    const { query } = condition;
    return { ...condition, query: { ...query, visible: visible(query.metadata) } };
  });
}

/**
 * Whether conditions only compare stored columns with values, or with what is looked up in resources that a
 * `VisibleListing` names. Others may read anything, such as a computed field.
 */
export function arePlain(metadata: EntityMetadata, conditions: readonly Condition[]): boolean {
  return columnConditions(conditions).every((condition) => {
    const column = metadata.findColumnWithPropertyName(condition.column);
    if (!column || column.isVirtualProperty) return false;
    if (condition.kind !== 'identifiers') return condition.kind !== 'sql';
    return arePlain(condition.query.metadata, condition.query.visible ?? []);
  });
}

export function identifierQueriesIn(conditions: readonly Condition[]): IdentifierQuery[] {
  return columnConditions(conditions).flatMap((each) =>
    each.kind === 'identifiers' ? [each.query] : [],
  );
}

/** Conditions with no identifiers in place of queries. */
export function withoutQueries(conditions: readonly Condition[]): Condition[] {
  return replaceIn(conditions, (condition) =>
    condition.kind === 'identifiers'
      ? { kind: 'equal', column: condition.column, values: [] }
      : condition,
  );
}

/** The values that a condition compares a column with. */
export function comparedValues(condition: ColumnCondition): ComparedValue[] {
  switch (condition.kind) {
    case 'equal':
    case 'not':
      return condition.values.map((value) => ({ value }));
    case 'lacks':
      return condition.items.map((value) => ({ value, isItem: true }));
    case 'interval':
      return [condition.lower, condition.upper].filter((bound) => bound !== undefined);
    case 'comparison': {
      const { operator, value } = condition;
      if (operator === '::jsonb @>') return [];
      return operator === '&&' || operator === '@>' || operator === '<@'
        ? (value as readonly unknown[]).map((item) => ({ value: item, isItem: true }))
        : [{ value, isPattern: operator.endsWith('LIKE') }];
    }
    case 'exists':
    case 'filled':
    case 'words':
    case 'identifiers':
    case 'sql':
      return [];
  }
}

/** The comparisons of conditions. SQL, identifier queries and values within JSON are left out. */
export function comparisonsIn(
  metadata: EntityMetadata,
  conditions: readonly Condition[],
): (ComparedValue & { readonly column: ColumnMetadata })[] {
  return columnConditions(conditions).flatMap((condition) => {
    const column = metadata.findColumnWithPropertyName(condition.column);
    return column ? comparedValues(condition).map((value) => ({ column, ...value })) : [];
  });
}

/**
 * What conditions compare with values that the type of the column does not have, as lines: PostgreSQL refuses the
 * statement, or finds other objects than those that the client asks for.
 */
export function misfitsIn(metadata: EntityMetadata, conditions: readonly Condition[]): string[] {
  return comparisonsIn(metadata, conditions).flatMap(({ column, ...compared }) => {
    const fitting = fittingInstead(column, compared);
    if (fitting === undefined) return [];
    const what = compared.isPattern ? 'a pattern of a text' : String(compared.value);
    return `compares ${metadata.name}.${column.propertyName}, of type ${typeNameOf(column)}, with ${what}${fitting}`;
  });
}
