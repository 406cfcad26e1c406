import type { INestApplicationContext } from '@nestjs/common';
import { DataSource, type EntityMetadata } from 'typeorm';
import { hasTable } from '../database/installed-resource.js';
import { endpointsOf } from '../http/endpoints.js';
import { type CalledList, callLists, example } from '../list/declaration/called-lists.js';
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
  for (const { parameter, result } of await calledLists(application)) {
    if (!(result instanceof Listing)) continue;
    const { metadata } = result.repository;
    if (await hasTable(manager, tableOf(metadata)))
      found.push({ metadata, parameter, listing: result });
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

async function calledLists(application: INestApplicationContext): Promise<CalledList[]> {
  const called: CalledList[] = [];
  const lists = callLists(endpointsOf(application), application.get(Settings), example);
  for await (const list of lists) called.push(list);
  return called;
}
