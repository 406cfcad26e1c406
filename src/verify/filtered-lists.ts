import type { INestApplicationContext } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { DataSource, type EntityMetadata } from 'typeorm';
import { endpointsOf } from '../http/endpoints.js';
import {
  ownParameters,
  parametersOf,
  type ReadOptions,
  validExample,
} from '../http/parameters/declared-parameters.js';
import { ListQueryDto } from '../list/list-query.dto.js';
import type { Listing } from '../list/listing.js';
import { Settings } from '../settings/settings.js';

/** A list with one of its own parameters, set to its example. */
export interface FilteredList {
  readonly metadata: EntityMetadata;
  /** The name of a filter, or `sort`. */
  readonly parameter: string;
  /** The list with this parameter and all required ones. */
  readonly listing: Listing;
}

/** Every list of an application, once per filter and for `sort`. Omits lists without a table. */
export async function filteredLists(application: INestApplicationContext): Promise<FilteredList[]> {
  const dataSource = application.get(DataSource);
  const options: ReadOptions = { settings: application.get(Settings) };
  const found: FilteredList[] = [];
  for (const { call, query } of endpointsOf(application)) {
    if (!(query.prototype instanceof ListQueryDto)) continue;
    const required = [...parametersOf(query)].filter(([, { isRequired }]) => isRequired);
    for (const [parameter, declared] of ownParameters(query)) {
      if (parameter === 'fields') continue;
      const texts = [...required, [parameter, declared] as const].map(([name, each]) => [
        name,
        validExample(each),
      ]);
      const values = plainToInstance(query, Object.fromEntries(texts), options);
      const listing = call(values) as Listing;
      const { metadata } = listing.repository;
      if (!(await hasTable(dataSource, metadata))) break;
      found.push({ metadata, parameter, listing });
    }
  }
  return found;
}

async function hasTable(dataSource: DataSource, { tableName }: EntityMetadata): Promise<boolean> {
  const [{ exists }] = await dataSource.query<[{ exists: boolean }]>(
    'SELECT to_regclass($1) IS NOT NULL AS exists',
    [`"${tableName}"`],
  );
  return exists;
}
