import type { INestApplicationContext } from '@nestjs/common';
import { DataSource, type EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { databaseFailure } from '../database/database-failure.js';
import { ReadPool } from '../database/read-pool.js';
import { ParameterValues } from '../database/statement.js';
import { whereOf } from '../list/condition/print.js';
import { readsOf } from '../list/query/query-of.js';
import { scopedTables, sqlConditions } from '../list/visibility/author-sql.js';
import { hasOwnTable, isVersioned, nameOf, resourcesOf, tableOf } from '../resource/resource.js';
import { selectedComputed, valueOf } from '../resource/selection.js';
import type { CalledLists, FilteredList } from './called-lists.js';
import { type AuthorQuery, namedBy, type Named } from './named-by-sql.js';

/**
 * What is wrong with SQL of authors, as lines: that of computed fields, and of filters with their examples. It reads a
 * resource past its scope, PostgreSQL refuses it, or `reads` of `@QueryOf` does not say what it reads.
 */
export async function authorReads(
  { lists }: CalledLists,
  application: INestApplicationContext,
): Promise<string[]> {
  const dataSource = application.get(DataSource);
  const reads = application.get(ReadPool);
  const scoped = [...scopedTables(dataSource).values()].flat();
  const found = new Set<string>();
  const check = async (what: string, query: AuthorQuery, list?: FilteredList): Promise<void> => {
    try {
      const declared = list && versionedBy(list);
      const named = await namedBy(reads, query, scoped, declared ?? []);
      if (named.scoped.length > 0) {
        found.add(`${what} reads ${named.scoped.join(', ')} by SQL, past its scope`);
      }
      const problem = list && problemOf(list, named, scoped.length > 0);
      if (problem !== undefined) found.add(`${what} ${problem}`);
    } catch (error) {
      if (databaseFailure(error)) throw error;
      found.add(`${what} fails: ${(error as Error).message}`);
    }
  };
  for (const metadata of resourcesOf(dataSource).values()) {
    for (const [, column] of selectedComputed(metadata, undefined)) {
      await check(nameOfField(metadata, column), fieldQuery(metadata, column));
    }
  }
  // The query class of a list says what the computed fields read.
  const byClass = new Map(lists.map((list) => [list.listing.query.constructor, list]));
  for (const list of byClass.values()) {
    const { metadata } = list;
    for (const [, column] of selectedComputed(metadata, undefined)) {
      await check(nameOfField(metadata, column), fieldQuery(metadata, column), list);
    }
  }
  for (const list of lists) {
    const { metadata, parameter } = list;
    for (const query of filterQueries(list)) {
      await check(`the filter ${parameter} of ${nameOf(metadata)}`, query, list);
    }
  }
  return [...found];
}

/** The resources whose versions tell of all that SQL of a list reads, as its query class says; otherwise `undefined`. */
function versionedBy({ metadata, listing }: FilteredList): string[] | undefined {
  const reads = readsOf(listing.query.constructor);
  if (!reads || reads.others.length > 0) return undefined;
  const resources = [nameOf(metadata), ...reads.resources];
  return resources.every(hasOwnTable) ? resources : undefined;
}

/** What is wrong with `reads` of a list, if its SQL names some objects of the database. */
function problemOf(list: FilteredList, { others }: Named, hasScopes: boolean): string | undefined {
  const { metadata, listing } = list;
  const query = listing.query.constructor;
  const option = `reads of @QueryOf of ${query.name}`;
  if (!readsOf(query)) {
    if (hasScopes) return `is refused, since it is SQL, and ${option} does not say what it reads`;
    if (!isVersioned(metadata)) return undefined;
    return `gives its lists no ETag, since it is SQL, and ${option} does not say what it reads`;
  }
  if (!versionedBy(list) || others.length === 0) return undefined;
  return `reads ${others.join(', ')}, which ${option} does not name`;
}

function nameOfField(metadata: EntityMetadata, { propertyName }: ColumnMetadata): string {
  return `the field ${propertyName} of ${nameOf(metadata)}`;
}

function fieldQuery(metadata: EntityMetadata, column: ColumnMetadata): AuthorQuery {
  return { text: `SELECT ${valueOf(column, 'object')} FROM ${anyRow(metadata)}`, values: [] };
}

/** A query for each condition of a list that is SQL. */
function filterQueries({ metadata, listing }: FilteredList): AuthorQuery[] {
  return sqlConditions(metadata, listing.filters).map((condition) => {
    const values = new ParameterValues();
    const where = whereOf([condition], { metadata, values });
    return { text: `SELECT FROM ${anyRow(metadata)} ${where}`, values: values.values };
  });
}

/** A row of a resource's table, of which a statement does not read the table. */
function anyRow(metadata: EntityMetadata): string {
  return `jsonb_populate_record(NULL::${tableOf(metadata)}, '{}') object`;
}
