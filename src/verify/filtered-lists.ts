import type { INestApplicationContext, Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { DataSource, type EntityMetadata } from 'typeorm';
import { ownParameters } from '../http/parameters/declared-parameters.js';
import { endpointsOf } from '../http/endpoints.js';
import type { ResourceListing } from '../list/list-of.js';
import { ListQueryDto } from '../list/list-query.dto.js';

/** A list with one of its own parameters, which has the value of its example. */
export interface FilteredList {
  readonly metadata: EntityMetadata;
  /** The name of a filter, or `sort`. */
  readonly parameter: string;
  readonly value: unknown;
  /** The list with this parameter alone. */
  readonly listing: () => ResourceListing;
}

/** Every list of an application with each of its filters and with `sort`. A list without its table is left out. */
export async function filteredLists(application: INestApplicationContext): Promise<FilteredList[]> {
  const dataSource = application.get(DataSource);
  const found: FilteredList[] = [];
  for (const { call, query } of endpointsOf(application)) {
    if (!(query.prototype instanceof ListQueryDto)) continue;
    const list = (asked: object) => call(asked) as ResourceListing;
    const { metadata } = list({}).repository;
    if (!(await isThere(dataSource, metadata))) continue;
    for (const [parameter, { example }] of ownParameters(query)) {
      if (parameter === 'fields') continue;
      const value = valueOf(query, parameter, example);
      found.push({ metadata, parameter, value, listing: () => list({ [parameter]: value }) });
    }
  }
  return found;
}

/** The value that a query class makes of a parameter's text. */
function valueOf(query: Type<object>, parameter: string, text: string): unknown {
  return (plainToInstance(query, { [parameter]: text }) as Record<string, unknown>)[parameter];
}

async function isThere(dataSource: DataSource, { tableName }: EntityMetadata): Promise<boolean> {
  const [{ there }] = await dataSource.query<[{ there: boolean }]>(
    'SELECT to_regclass($1) IS NOT NULL AS there',
    [`"${tableName}"`],
  );
  return there;
}
