import type { INestApplicationContext } from '@nestjs/common';
import { DataSource, type EntityMetadata } from 'typeorm';
import { hasTable } from '../database/installed-resource.js';
import { endpointsOf } from '../http/endpoints.js';
import { type CalledList, callLists, example } from '../declarations/called-lists.js';
import { Listing } from '../list/listing/listing.js';
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
  const { manager } = application.get(DataSource);
  const found: FilteredList[] = [];
  for await (const { parameter, result } of calledLists(application)) {
    if (!(result instanceof Listing)) continue;
    const { metadata } = result.repository;
    if (await hasTable(manager, tableOf(metadata)))
      found.push({ metadata, parameter, listing: result });
  }
  return found;
}

/** The filters whose handler throws an error for an example, as lines. Nothing else is known of them. */
export async function failingLists(application: INestApplicationContext): Promise<string[]> {
  const found: string[] = [];
  for await (const { endpoint, parameter, error } of calledLists(application)) {
    if (!error) continue;
    found.push(
      `the list at ${endpoint.path} fails for the example of ${parameter}: ${error.message}`,
    );
  }
  return found;
}

function calledLists(application: INestApplicationContext): AsyncGenerator<CalledList> {
  return callLists(endpointsOf(application), application.get(Settings), example);
}
