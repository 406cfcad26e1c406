import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { databaseFailure } from '../database/database-failure.js';
import { UnscopedReadError, UnscopedReads } from '../list/reading/unscoped-reads.js';
import { nameOf, resourcesOf } from '../resource/resource.js';
import { selectedComputed } from '../resource/selection.js';
import { filteredLists } from './filtered-lists.js';

/**
 * The computed fields, and filters with their examples, whose SQL reads a resource past its scope, or which PostgreSQL
 * refuses, as lines. The service refuses each request with one of them.
 */
export async function unscopedReads(application: INestApplicationContext): Promise<string[]> {
  const reads = application.get(UnscopedReads);
  const found: string[] = [];
  const report = async (what: string, check: () => Promise<void>): Promise<void> => {
    try {
      await check();
    } catch (error) {
      if (databaseFailure(error)) throw error;
      const { message } = error as Error;
      found.push(error instanceof UnscopedReadError ? message : `${what} fails: ${message}`);
    }
  };
  for (const metadata of resourcesOf(application.get(DataSource)).values()) {
    for (const [, { propertyName }] of selectedComputed(metadata, undefined)) {
      await report(`the field ${propertyName} of ${nameOf(metadata)}`, () =>
        reads.checkFields(metadata, [propertyName]),
      );
    }
  }
  for (const { metadata, parameter, listing } of await filteredLists(application)) {
    await report(`the filter ${parameter} of ${nameOf(metadata)}`, () =>
      reads.checkFilters(listing, parameter),
    );
  }
  return [...new Set(found)];
}
