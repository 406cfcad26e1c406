import type { EntityMetadata, FindOptionsWhere, ObjectLiteral, Repository } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { changeCondition } from './changes.js';
import type { Condition, Interval } from './condition.js';
import { conditionsFrom } from './from-typeorm.js';
import { parametersOf } from '../../http/parameters/declared-parameters.js';
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
  { metadata }: Pick<Repository<ObjectLiteral>, 'metadata'>,
  query: ListQueryDto,
  conditions: Readonly<Record<string, ((value: never) => ObjectLiteral) | undefined>>,
): Condition[] {
  const filters = Object.entries(query).filter(
    ([name, value]) => value !== undefined && !NON_FILTERS.has(name),
  );
  if (filters.length === 0) return [];
  const declared = [...parametersOf(query.constructor).keys()];
  return filters
    .map(([filter, value]): [number, Condition[]] => {
      const position = declared.indexOf(filter);
      if (position < 0) throw new TypeError(`${query.constructor.name} does not declare ${filter}`);
      const written = (conditions[filter] as ((value: unknown) => ObjectLiteral) | undefined)?.(
        value,
      );
      return [
        position,
        written ? conditionsFrom(metadata, written) : [conditionOf(metadata, filter, value)],
      ];
    })
    .sort(([one], [other]) => one - other)
    .flatMap(([, each]) => each);
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
    return { kind: column.isArray ? 'overlap' : 'equal', column: filter, values };
  }
  const change = changeCondition(metadata, filter, value);
  if (change) return change;
  for (const [suffix, { columnOf, condition }] of Object.entries(SUFFIXES)) {
    const named = filter.endsWith(suffix)
      ? columnOf(metadata, filter.slice(0, -suffix.length))
      : undefined;
    if (named) return condition(named, values);
  }
  throw new TypeError(`${metadata.name} has no column for the filter ${filter}, nor a condition`);
}

/** What the end of a filter's name says about the column that the beginning of it names. */
interface Suffix {
  readonly columnOf: (metadata: EntityMetadata, name: string) => ColumnMetadata | undefined;
  readonly condition: (column: ColumnMetadata, values: readonly unknown[]) => Condition;
}

const named: Suffix['columnOf'] = (metadata, name) => metadata.findColumnWithPropertyName(name);

/** The times that TypeORM sets may have any name. */
const timeNamed: Suffix['columnOf'] = (metadata, name) =>
  ({ created: metadata.createDateColumn, updated: metadata.updateDateColumn })[name] ??
  named(metadata, `${name}At`);

const SUFFIXES: Readonly<Record<string, Suffix>> = {
  Not: { columnOf: named, condition: excluding },
  Exists: {
    columnOf: named,
    condition: ({ propertyName }, [exists]) => ({
      kind: 'exists',
      column: propertyName,
      exists: exists === true,
    }),
  },
  Since: {
    columnOf: timeNamed,
    condition: bounded((value) => ({ lower: { value, inclusive: true } })),
  },
  Until: {
    columnOf: timeNamed,
    condition: bounded((value) => ({ upper: { value, inclusive: false } })),
  },
};

function bounded(
  bounds: (value: unknown) => Pick<Interval, 'lower' | 'upper'>,
): Suffix['condition'] {
  return ({ propertyName }, [value]) => ({
    kind: 'interval',
    column: propertyName,
    ...bounds(value),
  });
}

/** The condition that a column has none of some values. */
function excluding(
  { propertyName: column, type, isNullable, enum: all = [] }: ColumnMetadata,
  values: readonly unknown[],
): Condition {
  // An equality, so that the tally knows the list with any other filters.
  return type === 'enum' && !isNullable
    ? { kind: 'equal', column, values: all.filter((value) => !values.includes(value)) }
    : { kind: 'not', column, values };
}
