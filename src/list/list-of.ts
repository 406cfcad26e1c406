import { hash } from 'node:crypto';
import type {
  EntityMetadata,
  FindOptionsWhere,
  ObjectLiteral,
  Repository,
  SelectQueryBuilder,
} from 'typeorm';
import { run, type Statement, statement } from '../database/statement.js';
import type { Listing, RowFormat, VersionedPage, WholeList } from './serving/listing.js';
import { dependenciesOf, isPlain, versionedTables } from './dependencies.js';
import { type ListQueryDto, pageSize, type SortKey } from './list-query.dto.js';
import { type ListStatements, openList, rowFormat } from './open-list.js';
import { identifierOf } from '../resource/resource.js';
import { jsonArray, selection } from '../resource/selection.js';
import { countedPage } from './tally/counted-page.js';
import { countOf, facetOfConditions } from './tally/counted.js';
import { type Facet, facetName } from './tally/tally.js';
import { currentState, known, stateOf } from './versions.js';
import { refuseWithheld } from './withheld.js';

/** What each filter of a query class means: a condition on the entity, given the filter's value. */
export type Conditions<Entity, Query extends ListQueryDto> = {
  readonly [Filter in Exclude<keyof Query, keyof ListQueryDto>]-?: (
    value: NonNullable<Query[Filter]>,
  ) => FindOptionsWhere<Entity>;
};

/** A list of a resource's objects, with what they must meet. */
export interface ResourceListing extends Listing {
  readonly repository: Repository<ObjectLiteral>;
  readonly conditions: readonly ObjectLiteral[];
  /** What else it reads, whose changes do not change its version; empty for a list that has a tag. */
  dependencies(): Promise<readonly string[]>;
}

/**
 * One page of a resource and the exact count of all that match, from one statement and hence one
 * snapshot. Only the fields asked for are read. Where the tally knows the objects that match, the
 * count and, by identifier, the offset cost the same whatever they are.
 *
 * @param resource that whose version tells whether the list has changed, unless its own
 * @throws ApiError `-2` while the lists of the resource are withheld
 */
export function findPage<Entity extends ObjectLiteral, Query extends ListQueryDto>(
  repository: Repository<Entity>,
  query: Query,
  conditions: Conditions<Entity, Query>,
  resource = repository.metadata.tableName,
): ResourceListing {
  const { metadata } = repository;
  const { dataSource } = repository.manager;
  refuseWithheld(dataSource, resource);
  const matching: ObjectLiteral[] = [];
  for (const [filter, condition] of Object.entries(conditions) as [keyof Query, Condition][]) {
    const value = query[filter];
    if (value !== undefined) matching.push(condition(value));
  }
  const facet = facetOfConditions(metadata, matching);
  const limit = query.limit ?? Math.min(pageSize.standard, pageSize.most);
  const { fields, offset = 0, sort = [] } = query;
  let built: MatchingObjects | undefined;
  const objects = (): MatchingObjects => (built ??= matchingObjects(repository, matching, query));
  const [page, values] =
    facet && isByIdentifier(metadata, sort)
      ? countedPage(metadata, facet, { fields, limit, offset })
      : skippingPage(metadata, objects(), { limit, offset }, resource);
  const isOfResource = versionedTables(resource).includes(`"${metadata.tableName}"`);
  const dependencies = async (): Promise<readonly string[]> => {
    if (isOfResource && matching.every((condition) => isPlain(metadata, condition))) return [];
    const { counting, values: sent } = objects();
    return dependenciesOf(dataSource, resource, { text: counting, values: sent });
  };
  return {
    repository,
    conditions: matching,
    offset,
    limit,
    dependencies,
    isVersioned: async () => (await dependencies()).length === 0,
    key: hash('sha256', page.digest + JSON.stringify(values), 'base64url'),
    state: () => currentState(dataSource, resource),
    read: async () => {
      const [answer] = await run<VersionedPage>(dataSource, page, values);
      if (!answer) throw new TypeError('A page is one row');
      known(answer.version, resource);
      return answer;
    },
    whole: (format) =>
      wholeList(
        repository,
        objects(),
        { fields, limit: query.limit ?? null, offset },
        format,
        resource,
      ),
  };
}

type Condition = (value: unknown) => ObjectLiteral;

function isByIdentifier(metadata: EntityMetadata, [first]: readonly SortKey[]): boolean {
  // What comes after the identifier orders nothing any more.
  return (
    !first || (first.field === identifierOf(metadata).propertyName && first.direction === 'ASC')
  );
}

/** All objects that match, in their order, as a query; and what counts them. */
interface MatchingObjects {
  readonly query: string;
  /** The values of the query and of the counting, which are the same. */
  readonly values: readonly unknown[];
  readonly counting: string;
  /** The facet that they are, whose count is known. */
  readonly facet: Facet | 'all' | undefined;
}

function matchingObjects(
  repository: Repository<ObjectLiteral>,
  conditions: readonly ObjectLiteral[],
  { fields, sort = [] }: Pick<ListQueryDto, 'fields' | 'sort'>,
): MatchingObjects {
  const { metadata } = repository;
  const matching = repository.createQueryBuilder('object');
  for (const condition of conditions) matching.andWhere(condition);
  const [counting] = matching.clone().select('count(*)::text').getQueryAndParameters();
  matching.select(selection(metadata, fields));
  order(matching, metadata, sort);
  const [query, values] = matching.getQueryAndParameters() as [string, unknown[]];
  return { query, values, counting, facet: facetOfConditions(metadata, conditions) };
}

/** The statement for any other page, which skips the objects before it one by one. */
function skippingPage(
  metadata: EntityMetadata,
  { query, values, counting, facet }: MatchingObjects,
  { limit, offset }: { limit: number; offset: number },
  resource: string,
): [Statement, unknown[]] {
  const [next, afterNext, last] = [1, 2, 3].map((more) => `$${values.length + more}`);
  const objects = jsonArray(`${query} LIMIT ${next} OFFSET ${afterNext}`);
  const count = facet ? countOf(metadata, last ?? '') : `(${counting})`;
  const text = `SELECT ${objects} AS objects, ${count} AS count, ${stateOf(resource)}`;
  // Planned for its values, and of too many variants to be kept.
  return [
    statement(text, { prepared: false }),
    [...values, limit, offset, ...(facet ? [facetName(facet)] : [])],
  ];
}

/** @param limit null for none */
function wholeList(
  { metadata, manager }: Repository<ObjectLiteral>,
  { query, values, counting, facet }: MatchingObjects,
  {
    fields,
    limit,
    offset,
  }: Pick<ListQueryDto, 'fields'> & { limit: number | null; offset: number },
  name: RowFormat,
  resource: string,
): WholeList {
  const [most, skipped] = [1, 2].map((more) => `$${values.length + more}`);
  const format = rowFormat(name, metadata, fields);
  const objects = format.select(`${query} LIMIT ${most} OFFSET ${skipped}`);
  const count = facet ? countOf(metadata, '$1') : `(${counting})`;
  const statements: ListStatements = {
    objects: [objects, [...values, limit, offset]],
    summary: [`SELECT ${count}, ${stateOf(resource)}`, facet ? [facetName(facet)] : values],
    resource,
  };
  return {
    key: hash('sha256', JSON.stringify([name, ...statements.objects]), 'base64url'),
    open: (signal) => openList(manager.dataSource, statements, format, signal),
  };
}

/** Orders a query on `object`, in the end by the identifier, so that the order is total. */
function order(
  builder: SelectQueryBuilder<ObjectLiteral>,
  metadata: EntityMetadata,
  sort: readonly SortKey[],
): void {
  const { propertyName: last } = identifierOf(metadata);
  for (const { field, direction } of sort) builder.addOrderBy(`object.${field}`, direction);
  if (!sort.some(({ field }) => field === last)) builder.addOrderBy(`object.${last}`);
}
