import type { INestApplicationContext } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { DataSource, type EntityMetadata } from 'typeorm';
import { type Endpoint, endpointsOf, pathParametersOf } from '../http/endpoints.js';
import {
  ownParameters,
  parametersOf,
  type ReadOptions,
  validExample,
} from '../http/parameters/declared-parameters.js';
import { ListQueryDto } from '../list/list-query.dto.js';
import { Listing } from '../list/listing.js';
import { tableOf } from '../resource/resource.js';
import { Settings } from '../settings/settings.js';

/** A list with one of its own parameters, set to its example. */
export interface FilteredList {
  readonly metadata: EntityMetadata;
  /** The name of a filter, or `sort`. */
  readonly parameter: string;
  /** The list with this parameter and all required ones. */
  readonly listing: Listing;
}

/**
 * Every list of an application, once per filter and for `sort`. Omits lists without a table, what a handler
 * reads itself, and what `failingLists` tells.
 */
export async function filteredLists(application: INestApplicationContext): Promise<FilteredList[]> {
  const dataSource = application.get(DataSource);
  const found: FilteredList[] = [];
  for (const { parameter, result } of await calledLists(application)) {
    if (!(result instanceof Listing)) continue;
    const { metadata } = result.repository;
    if (await hasTable(dataSource, metadata)) found.push({ metadata, parameter, listing: result });
  }
  return found;
}

/** The filters whose handler throws an error for an example, as lines. Nothing else is known of them. */
export async function failingLists(application: INestApplicationContext): Promise<string[]> {
  return (await calledLists(application)).flatMap(({ endpoint, parameter, error }) =>
    error === undefined
      ? []
      : `the list at ${endpoint.path} fails for the example of ${parameter}: ${error.message}`,
  );
}

/** What the handler of a list returns for a parameter, set to its example. */
interface CalledList {
  readonly endpoint: Endpoint;
  readonly parameter: string;
  readonly result?: unknown;
  readonly error?: Error;
}

async function calledLists(application: INestApplicationContext): Promise<CalledList[]> {
  const options: ReadOptions = { settings: application.get(Settings) };
  const called: CalledList[] = [];
  for (const endpoint of endpointsOf(application)) {
    const { query } = endpoint;
    if (!(query.prototype instanceof ListQueryDto)) continue;
    const params = Object.fromEntries(pathParametersOf(endpoint).map((name) => [name, '1']));
    const required = [...parametersOf(query)].filter(([, { isRequired }]) => isRequired);
    for (const [parameter, declared] of ownParameters(query)) {
      if (parameter === 'fields') continue;
      const texts = [...required, [parameter, declared] as const].map(([name, each]) => [
        name,
        validExample(each),
      ]);
      const values = plainToInstance(query, Object.fromEntries(texts), options);
      try {
        const handler = await endpoint.handlerFor();
        const result: unknown = await handler({ query: values, params });
        called.push({ endpoint, parameter, result });
      } catch (error) {
        called.push({ endpoint, parameter, error: error as Error });
      }
    }
  }
  return called;
}

async function hasTable(dataSource: DataSource, metadata: EntityMetadata): Promise<boolean> {
  const [{ exists }] = await dataSource.query<[{ exists: boolean }]>(
    'SELECT to_regclass($1) IS NOT NULL AS exists',
    [tableOf(metadata)],
  );
  return exists;
}
