import type {
  EntityMetadata,
  FindOptionsWhere,
  ObjectLiteral,
  Repository,
  SelectQueryBuilder,
} from 'typeorm';
import type { Page } from '../http/envelope.js';
import { type ListQueryDto, pageSize, type SortKey } from './list-query.dto.js';
import { fieldsOf, identifierOf, publicForm } from './resource.js';

/** What each filter of a query class means: a condition on the entity, given the filter's value. */
export type Conditions<Entity, Query extends ListQueryDto> = {
  readonly [Filter in Exclude<keyof Query, keyof ListQueryDto>]-?: (
    value: NonNullable<Query[Filter]>,
  ) => FindOptionsWhere<Entity>;
};

/**
 * One page of a resource and the exact count of all that match, from one statement and hence one
 * snapshot. Only the fields asked for are read.
 */
export async function findPage<Entity extends ObjectLiteral, Query extends ListQueryDto>(
  repository: Repository<Entity>,
  query: Query,
  conditions: Conditions<Entity, Query>,
): Promise<Page> {
  const matching = repository.createQueryBuilder('object');
  for (const [filter, condition] of Object.entries(conditions) as [keyof Query, Condition][]) {
    const value = query[filter];
    if (value !== undefined) matching.andWhere(condition(value));
  }
  const [count, parameters] = matching.clone().select('count(*)').getQueryAndParameters();
  selectFields(matching, repository.metadata, query.fields);
  order(matching, repository.metadata, query.sort);
  const [page] = matching.getQueryAndParameters();
  const limit = query.limit ?? Math.min(pageSize.standard, pageSize.most);
  const [answer] = await repository.query<[Page]>(
    `SELECT (${count})::text AS count, ${jsonArray(
      `${page} LIMIT $${parameters.length + 1} OFFSET $${parameters.length + 2}`,
    )} AS objects`,
    [...(parameters as unknown[]), limit, query.offset ?? 0],
  );
  return answer;
}

type Condition = (value: unknown) => ObjectLiteral;

/** Narrows a query on `object` to the public form of the fields named, all unless given. */
export function selectFields(
  builder: SelectQueryBuilder<ObjectLiteral>,
  metadata: EntityMetadata,
  names: readonly string[] | undefined,
): void {
  const columns = fieldsOf(metadata).filter(
    ({ propertyName }) => !names || names.includes(propertyName),
  );
  // As one text, since TypeORM puts plain columns before expressions.
  builder.select(
    columns
      .map(
        (column) =>
          `${publicForm(column, `object.${column.propertyName}`)} AS "${column.propertyName}"`,
      )
      .join(', '),
  );
}

/** Orders a query on `object`, in the end by the identifier, so that the order is total. */
function order(
  builder: SelectQueryBuilder<ObjectLiteral>,
  metadata: EntityMetadata,
  sort: readonly SortKey[] = [],
): void {
  const { propertyName: last } = identifierOf(metadata);
  for (const { field, direction } of sort) builder.addOrderBy(`object.${field}`, direction);
  if (!sort.some(({ field }) => field === last)) builder.addOrderBy(`object.${last}`);
}

/** The rows of a statement as the JSON text of an array, in their order. */
function jsonArray(statement: string): string {
  return `(SELECT coalesce('[' || string_agg(row_to_json(page)::text, ',') || ']', '[]') FROM (${statement}) page)`;
}
