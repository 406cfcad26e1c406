import type { DataSource, EntityMetadata } from 'typeorm';
import { externalTableNamed, isResourceName } from './declaration.js';
import { externalTableOf, isResource, resourcesOf, tableNamed } from './resource.js';
import { DELETIONS } from './visibility.js';

/**
 * Whether the service has the table of a resource: migrations create it with indexes and triggers for its lists, and
 * imports write it. Of any other table nothing is known: no trigger of the service is there.
 *
 * @param resource its name, or its entity
 */
export function hasOwnTable(resource: string | Pick<EntityMetadata, 'target'>): boolean {
  return typeof resource === 'string'
    ? isResourceName(resource) && !externalTableNamed(resource)
    : isResource(resource) && !externalTableOf(resource);
}

/** Those of some resources that the service has the tables of, as tables in SQL. PostgreSQL locks no materialized view. */
export function ownTables(resources: readonly string[]): string[] {
  return resources.filter((name) => hasOwnTable(name)).map(tableNamed);
}

/** Whether every change gives the lists of an entity another version. Those of deletions have that of the resource. */
export function isVersioned(metadata: Pick<EntityMetadata, 'target'>): boolean {
  return hasOwnTable(metadata) || DELETIONS.has(metadata.target as object);
}

/** The resources of a data source with a table of the service, by name. */
export function ownResources(dataSource: DataSource): Map<string, EntityMetadata> {
  return new Map([...resourcesOf(dataSource)].filter(([, metadata]) => hasOwnTable(metadata)));
}
