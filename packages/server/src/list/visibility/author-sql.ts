import type { DataSource, EntityMetadata } from 'typeorm';
import { nameOf, resourcesOf, tableOf } from '../../resource/resource.js';
import { selectedComputed } from '../../resource/selection.js';
import { scopeOf } from '../../resource/visibility.js';
import { tallyTables } from '../../tally/described-tally.js';
import { arePlain, columnsIn, type Condition, withoutQueries } from '../condition/condition.js';
import { deletionsTable } from '../deletions/deletions.js';
import { readsOf } from '../query/query-of.js';

/** SQL of an author that reads a resource past its scope, or may do so. */
class UnscopedReadError extends TypeError {}

/**
 * The SQL of an author that a list or an object runs, as messages name it: computed fields, also of related objects, and
 * conditions other than comparisons.
 *
 * @param fields those that are shown; see `selection`
 * @param conditions those of a handler
 */
export function authorSql(
  metadata: EntityMetadata,
  fields: readonly string[] | undefined,
  conditions: readonly Condition[] = [],
): string[] {
  return [
    ...selectedComputed(metadata, fields).map(
      ([shown, { propertyName }]) => `the field ${propertyName} of ${nameOf(shown)}`,
    ),
    ...sqlConditions(metadata, conditions).map((each) => {
      const columns = new Set(columnsIn([each]));
      return `a filter by ${[...columns].join(' or ')} of ${nameOf(metadata)}`;
    }),
  ];
}

/** Those conditions that are SQL of an author. What looks up identifiers of a resource is none, whatever it looks them up by. */
export function sqlConditions(
  metadata: EntityMetadata,
  conditions: readonly Condition[],
): Condition[] {
  return withoutQueries(conditions).filter((each) => !arePlain(metadata, [each]));
}

/**
 * The resources that SQL of an author reads, as `reads` of `@QueryOf` says. `undefined` if it reads anything else, or if
 * that is not known: then no version tells of all its changes.
 *
 * @param query of the list or the object
 * @param sql see `authorSql`
 * @throws UnscopedReadError if it reads a resource with a scope, or may read one
 */
export function resourcesRead(
  query: object,
  sql: readonly string[],
  dataSource: DataSource,
): readonly string[] | undefined {
  if (sql.length === 0) return [];
  const reads = readsOf(query.constructor);
  for (const [resource, tables] of scopedTables(dataSource)) {
    const named = reads && [...reads.resources, ...reads.others].map(unquoted);
    if (named && ![resource, ...tables].some((table) => named.includes(unquoted(table)))) continue;
    const option = `reads of @QueryOf of ${query.constructor.name}`;
    const reason = named ? `names ${resource}` : `is missing, so that it may read ${resource}`;
    throw new UnscopedReadError(`${String(sql[0])} is SQL past a scope: ${option} ${reason}`);
  }
  return reads?.others.length === 0 ? reads.resources : undefined;
}

/** A table without its quotes and its schema. */
function unquoted(table: string): string {
  return table.replace(/^.*\./, '').replaceAll('"', '');
}

/** The tables with objects that not every client sees, and those that tell of them, in SQL, by the resource. */
export function scopedTables(dataSource: DataSource): Map<string, string[]> {
  const scoped = [...resourcesOf(dataSource)].filter(([, metadata]) => scopeOf(metadata));
  return new Map(
    scoped.map(([resource, metadata]) => [
      resource,
      [tableOf(metadata), deletionsTable(resource), ...tallyTables(metadata)],
    ]),
  );
}
