import type { EntityMetadata, FindOptionsWhere, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { parametersOf } from '../../http/parameters/declared-parameters.js';
import type { FilterEnd, FilterForms } from '../../resource/filter-forms.js';
import { textAbove } from '../../resource/formats.js';
import { externalTableOf, namedColumn } from '../../resource/resource.js';
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

/** The value of a filter whose name says what it compares; `never` for any other filter. */
type ColumnValue<Entity, F> = F extends keyof Entity
  ? OneOrSeveral<Entity[F]>
  : {
      [End in Exclude<FilterEnd, ''>]: F extends `${infer Name}${End}`
        ? Taken<Entity, `${Name}${FilterForms[End]['of']}`>[FilterForms[End]['takes']]
        : never;
    }[Exclude<FilterEnd, ''>];

/** The value of a filter by a column, for each of what forms of filters take. */
type Taken<Entity, Name> = Name extends keyof Entity
  ? TakenBy<Entity[Name], NonNullable<Entity[Name]>>
  : Record<FilterForms[FilterEnd]['takes'], never>;

interface TakenBy<Column, Value> {
  values: Value extends readonly unknown[] ? Value : OneOrSeveral<Column>;
  items: Value extends readonly unknown[] ? Value : never;
  presence: null extends Column ? boolean : Value extends readonly unknown[] ? boolean : never;
  bound: Value extends number | string | Date ? Value : never;
  time: Extract<Value, Date>;
  beginning: string extends Value ? string : never;
}

type OneOrSeveral<Value> = NonNullable<Value> | readonly NonNullable<Value>[];

/** The filters that need a condition. */
export type RequiredFilter<Entity, Query> = Exclude<Filter<Query>, ColumnFilter<Entity, Query>>;

/** Several conditions are combined with OR. */
type ConditionOf<Entity, Value> = (
  value: NonNullable<Value>,
) => FindOptionsWhere<Entity> | FindOptionsWhere<Entity>[];

/**
 * The meaning of each filter of a query class: a function from the filter's value to a condition on the entity. It
 * is optional where the name of the filter says what it compares, as `FILTER_FORMS` has it.
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
  const { end, column } = namedColumn(metadata.target as object, filter) ?? {};
  const found = column === undefined ? undefined : metadata.findColumnWithPropertyName(column);
  if (end !== undefined && found) return CONDITIONS[end](found, values);
  throw new TypeError(`${metadata.name} has no column for the filter ${filter}, nor a condition`);
}

type FormCondition = (column: ColumnMetadata, values: readonly unknown[]) => Condition;

/** The condition of each form of filters. */
const CONDITIONS: Readonly<Record<FilterEnd, FormCondition>> = {
  '': ({ propertyName: column, isArray }, values) =>
    // An array has one of these items, of which a gin index finds the objects.
    isArray
      ? { kind: 'comparison', column, operator: '&&', value: values }
      : { kind: 'equal', column, values },
  Not: ({ propertyName: column, type, isArray, isNullable, enum: all = [] }, values) => {
    if (isArray) return { kind: 'lacks', column, items: values };
    // For an enumeration an equality, so that the tally knows the list with any other filters.
    return type === 'enum' && !isNullable
      ? { kind: 'equal', column, values: all.filter((each) => !values.includes(each)) }
      : { kind: 'not', column, values };
  },
  All: ({ propertyName: column }, values) => ({
    kind: 'comparison',
    column,
    operator: '@>',
    value: values,
  }),
  Exists: (column, [value]) => presence(column, value === true),
  Min: from,
  Max: upTo(true),
  Starts: beginningWith,
  Since: from,
  Until: upTo(false),
};

/** A column has a value, or none; an array has an item, or none. */
export function presence(
  { propertyName: column, isArray }: ColumnMetadata,
  exists: boolean,
): Condition {
  return isArray
    ? { kind: 'filled', column, isFilled: exists }
    : { kind: 'exists', column, exists };
}

/** From a value on, which is included. */
function from({ propertyName: column }: ColumnMetadata, [value]: readonly unknown[]): Condition {
  return { kind: 'interval', column, lower: { value, inclusive: true } };
}

function upTo(inclusive: boolean): FormCondition {
  return ({ propertyName: column }, [value]) => ({
    kind: 'interval',
    column,
    upper: { value, inclusive },
  });
}

/**
 * A text that begins with another. In the collation C such texts are an interval, which the tally counts and an index
 * serves. In another collation, and in an external table, whose collation may be any, it is a pattern.
 */
function beginningWith(
  { propertyName: column, collation, entityMetadata }: ColumnMetadata,
  [value]: readonly unknown[],
): Condition {
  const beginning = String(value);
  if (collation !== 'C' || externalTableOf(entityMetadata)) {
    const pattern = `${beginning.replace(/[\\%_]/g, '\\$&')}%`;
    return { kind: 'comparison', column, operator: 'LIKE', value: pattern };
  }
  const end = textAbove(beginning);
  return {
    kind: 'interval',
    column,
    lower: { value: beginning, inclusive: true },
    ...(end !== undefined && { upper: { value: end, inclusive: false } }),
  };
}
