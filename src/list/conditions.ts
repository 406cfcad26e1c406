import {
  Any,
  type EntityMetadata,
  type FindOptionsWhere,
  MoreThanOrEqual,
  type ObjectLiteral,
  type Repository,
} from 'typeorm';
import { parametersOf } from '../http/parameters/declared-parameters.js';
import { ListQueryDto } from './list-query.dto.js';

/** The filters that a query class adds to `ListQueryDto`. */
type Filter<Query> = Exclude<keyof Query, keyof ListQueryDto>;

/** The filters with the name of a column and its type, or an array of its type. */
type ColumnFilter<Entity, Query> = {
  [F in Filter<Query>]-?: F extends keyof Entity
    ? [NonNullable<Query[F]>] extends [NonNullable<Entity[F]> | readonly NonNullable<Entity[F]>[]]
      ? F
      : never
    : never;
}[Filter<Query>];

/** The filters that need a condition. */
export type RequiredFilter<Entity, Query> = Exclude<Filter<Query>, ColumnFilter<Entity, Query>>;

type Condition<Entity, Value> = (value: NonNullable<Value>) => FindOptionsWhere<Entity>;

/**
 * The meaning of each filter of a query class: a function from the filter's value to a condition on
 * the entity. It is optional for a filter that names a column of its own type. Without it, the
 * column must equal the value, or one of several values.
 */
export type Conditions<Entity, Query extends ListQueryDto> = {
  readonly [F in RequiredFilter<Entity, Query>]-?: Condition<Entity, Query[F]>;
} & {
  readonly [F in ColumnFilter<Entity, Query>]?: Condition<Entity, Query[F]>;
};

/** Parameters of every list that are not filters. */
const NON_FILTERS: ReadonlySet<string> = new Set([
  ...parametersOf(ListQueryDto).keys(),
  // `@QueryOf` declares these for each class.
  ...(['fields', 'include', 'sort'] satisfies (keyof ListQueryDto)[]),
]);

/**
 * The conditions of the filters that a query has, in the order in which its class declares them.
 *
 * @throws TypeError for a filter that the class of the query does not declare, as in an object literal
 */
export function conditionsOf(
  { metadata }: Pick<Repository<ObjectLiteral>, 'metadata'>,
  query: ListQueryDto,
  conditions: Readonly<Record<string, ((value: never) => ObjectLiteral) | undefined>>,
): ObjectLiteral[] {
  const filters = Object.entries(query).filter(
    ([name, value]) => value !== undefined && !NON_FILTERS.has(name),
  );
  if (filters.length === 0) return [];
  const declared = [...parametersOf(query.constructor).keys()];
  return filters
    .map(([filter, value]): [number, ObjectLiteral] => {
      const position = declared.indexOf(filter);
      if (position < 0) throw new TypeError(`${query.constructor.name} does not declare ${filter}`);
      const condition = conditions[filter] as ((value: unknown) => ObjectLiteral) | undefined;
      return [position, condition?.(value) ?? conditionOf(metadata, filter, value)];
    })
    .sort(([one], [other]) => one - other)
    .map(([, condition]) => condition);
}

/** The condition of a filter for which none is given. */
function conditionOf(metadata: EntityMetadata, filter: string, value: unknown): ObjectLiteral {
  const { updateDateColumn } = metadata;
  if (filter === 'updatedSince' && updateDateColumn) {
    return { [updateDateColumn.propertyName]: MoreThanOrEqual(value) };
  }
  if (!Array.isArray(value)) return { [filter]: value };
  // From an equality, the planner learns that an index by the column is in the order of the identifier.
  // An enumeration stays `= ANY`: the planner would move an equality behind the other conditions, of which
  // it is the cheapest.
  const isOne = value.length === 1 && metadata.findColumnWithPropertyName(filter)?.type !== 'enum';
  return { [filter]: isOne ? (value[0] as unknown) : Any(value) };
}
