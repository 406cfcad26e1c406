import type { EntityMetadata, FindOptionsWhere, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { parametersOf } from '../../http/parameters/declared-parameters.js';
import type { Condition } from './condition.js';
import { conditionsFrom } from './from-typeorm.js';
import { ListQueryDto } from '../query/list-query.dto.js';
import { DECLARED } from '../query/query-of.js';

/** The filters that a query class adds to `ListQueryDto`. */
type Filter<Query> = Exclude<keyof Query, keyof ListQueryDto>;

/** The filters whose condition follows from their name and type. */
type ColumnFilter<Entity, Query> = {
  [F in Filter<Query>]-?: [NonNullable<Query[F]>] extends [ColumnValue<Entity, F>] ? F : never;
}[Filter<Query>];

/**
 * The value of a filter whose name says what it compares: that of the column `name` for `name` and, if it is
 * no array, `nameNot`, or several; a boolean for `nameExists`, if the column can be null; a time for `nameSince` and
 * `nameUntil`, if `nameAt` is a time. `never` for any other filter.
 */
type ColumnValue<Entity, F> = F extends keyof Entity
  ? OneOrSeveral<Entity[F]>
  : F extends `${infer Name extends keyof Entity & string}Not`
    ? NonNullable<Entity[Name]> extends readonly unknown[]
      ? never
      : OneOrSeveral<Entity[Name]>
    : F extends `${infer Name extends keyof Entity & string}Exists`
      ? null extends Entity[Name]
        ? boolean
        : never
      : F extends `${infer Name}${'Since' | 'Until'}`
        ? Extract<Entity[`${Name}At` & keyof Entity], Date>
        : never;

type OneOrSeveral<Value> = NonNullable<Value> | readonly NonNullable<Value>[];

/** The filters that need a condition. */
export type RequiredFilter<Entity, Query> = Exclude<Filter<Query>, ColumnFilter<Entity, Query>>;

/** Several conditions are combined with OR. */
type ConditionOf<Entity, Value> = (
  value: NonNullable<Value>,
) => FindOptionsWhere<Entity> | FindOptionsWhere<Entity>[];

/**
 * The meaning of each filter of a query class: a function from the filter's value to a condition on the entity. It
 * is optional for `<column>Not`, `<column>Exists`, `<name>Since` and `<name>Until`, and for a filter that names a
 * column of its own type. Such a column must equal the value, or one of several values. An array must contain one of
 * them.
 */
export type Conditions<Entity, Query extends ListQueryDto> = {
  readonly [F in RequiredFilter<Entity, Query>]-?: ConditionOf<Entity, Query[F]>;
} & {
  readonly [F in ColumnFilter<Entity, Query>]?: ConditionOf<Entity, Query[F]>;
};

/** Parameters of every list that are not filters. */
export const NON_FILTERS: ReadonlySet<string> = new Set([
  ...parametersOf(ListQueryDto).keys(),
  ...DECLARED,
]);

/**
 * The conditions of the filters that a query has, in the order in which its class declares them.
 *
 * @throws TypeError for a filter that the class of the query does not declare, as in an object literal
 */
export function conditionsOf(
  metadata: EntityMetadata,
  query: ListQueryDto,
  conditions: Readonly<Record<string, ((value: never) => ObjectLiteral) | undefined>>,
): Condition[] {
  const given = new Map<string, unknown>(
    Object.entries(query).filter(([name, value]) => value !== undefined && !NON_FILTERS.has(name)),
  );
  const declared = parametersOf(query.constructor);
  for (const name of given.keys()) {
    if (declared.has(name)) continue;
    throw new TypeError(`${query.constructor.name} does not declare ${name}`);
  }
  const filters = [...declared.keys()].filter((name) => given.has(name));
  return filters.flatMap((filter) => {
    const value = given.get(filter);
    const condition = conditions[filter] as ((value: unknown) => ObjectLiteral) | undefined;
    return condition
      ? conditionsFrom(metadata, condition(value))
      : [conditionOf(metadata, filter, value)];
  });
}

/**
 * The condition of a filter for which none is given.
 *
 * @throws TypeError if its name says none
 */
function conditionOf(metadata: EntityMetadata, filter: string, value: unknown): Condition {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  const column = metadata.findColumnWithPropertyName(filter);
  if (column) {
    // An array has one of these items, of which a gin index finds the objects.
    return column.isArray
      ? { kind: 'comparison', column: filter, operator: '&&', value: values }
      : { kind: 'equal', column: filter, values };
  }
  const [, name = '', suffix] = /^(.+)(Not|Exists|Since|Until)$/.exec(filter) ?? [];
  const isTime = suffix === 'Since' || suffix === 'Until';
  const named = isTime ? timeNamed(metadata, name) : metadata.findColumnWithPropertyName(name);
  if (named) return conditionOn(named, suffix, values);
  throw new TypeError(`${metadata.name} has no column for the filter ${filter}, nor a condition`);
}

/** The times that TypeORM sets may have any name. */
function timeNamed(metadata: EntityMetadata, name: string): ColumnMetadata | undefined {
  const { createDateColumn: created, updateDateColumn: updated } = metadata;
  return { created, updated }[name] ?? metadata.findColumnWithPropertyName(`${name}At`);
}

/** What the end of a filter's name says about the column that the beginning of it names. */
function conditionOn(
  { propertyName: column, type, isNullable, enum: all = [] }: ColumnMetadata,
  suffix: string | undefined,
  values: readonly unknown[],
): Condition {
  const [value] = values;
  switch (suffix) {
    case 'Exists':
      return { kind: 'exists', column, exists: value === true };
    case 'Since':
      return { kind: 'interval', column, lower: { value, inclusive: true } };
    case 'Until':
      return { kind: 'interval', column, upper: { value, inclusive: false } };
    default:
      // For an enumeration an equality, so that the tally knows the list with any other filters.
      return type === 'enum' && !isNullable
        ? { kind: 'equal', column, values: all.filter((each) => !values.includes(each)) }
        : { kind: 'not', column, values };
  }
}
