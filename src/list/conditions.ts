import {
  Any,
  type FindOptionsWhere,
  MoreThanOrEqual,
  type ObjectLiteral,
  type Repository,
} from 'typeorm';
import { parametersOf } from '../http/parameters/declared-parameters.js';
import type { ListQueryDto } from './list-query.dto.js';

/** The filters that a query class adds to those of every list. */
type Filter<Query> = Exclude<keyof Query, keyof ListQueryDto>;

/** The filters that have the name and the type of a column, or are an array of such values. */
type ColumnFilter<Entity, Query> = {
  [F in Filter<Query>]-?: F extends keyof Entity
    ? [NonNullable<Query[F]>] extends [NonNullable<Entity[F]> | readonly NonNullable<Entity[F]>[]]
      ? F
      : never
    : never;
}[Filter<Query>];

/** The filters whose meaning has to be given. */
export type RequiredFilter<Entity, Query> = Exclude<Filter<Query>, ColumnFilter<Entity, Query>>;

type Condition<Entity, Value> = (value: NonNullable<Value>) => FindOptionsWhere<Entity>;

/**
 * What each filter of a query class means: a condition on the entity, given the filter's value. A
 * filter that names a column of its own type may be left out: it means equality, or any of several
 * values.
 */
export type Conditions<Entity, Query extends ListQueryDto> = {
  readonly [F in RequiredFilter<Entity, Query>]-?: Condition<Entity, Query[F]>;
} & {
  readonly [F in ColumnFilter<Entity, Query>]?: Condition<Entity, Query[F]>;
};

/** Parameters of every list that are no filter. */
const NO_FILTERS: ReadonlySet<string> = new Set([
  'clientID',
  'access_token',
  'fields',
  'limit',
  'offset',
  'sort',
] satisfies (keyof ListQueryDto)[]);

/** The conditions of the filters that a query has, in the order in which its class declares them. */
export function conditionsOf(
  { metadata }: Pick<Repository<ObjectLiteral>, 'metadata'>,
  query: ListQueryDto,
  conditions: Readonly<Record<string, ((value: never) => ObjectLiteral) | undefined>>,
): ObjectLiteral[] {
  const values = query as unknown as Readonly<Record<string, unknown>>;
  const found: ObjectLiteral[] = [];
  for (const filter of parametersOf(query.constructor).keys()) {
    const value = values[filter];
    if (value === undefined || NO_FILTERS.has(filter)) continue;
    const condition = conditions[filter] as ((value: unknown) => ObjectLiteral) | undefined;
    if (condition) found.push(condition(value));
    else if (filter === 'updatedSince') {
      found.push({ [metadata.updateDateColumn?.propertyName ?? '']: MoreThanOrEqual(value) });
    } else found.push({ [filter]: Array.isArray(value) ? Any(value) : value });
  }
  return found;
}
