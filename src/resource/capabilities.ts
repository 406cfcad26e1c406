import type { DataSource, EntityMetadata } from 'typeorm';
import { externalTableNamed, isResourceName } from './declaration.js';
import { externalTableOf, isResource, resourcesOf } from './resource.js';
import { DELETIONS } from './visibility.js';

/** What the service can do with the table of a resource. */
export interface Capabilities {
  /** The tally counts its objects, and those with each value of its counted columns. */
  readonly counts: boolean;
  /** The tally finds the place of an offset, since its ranges are cut. */
  readonly places: boolean;
  /** Every change gives it another version, so that its lists have an `ETag` and are kept in memory. */
  readonly version: boolean;
  /** The times of changes are kept, for `updatedSince`, and its deletions are recorded. */
  readonly changes: boolean;
  /** It has indexes for its lists, which follow from its entity. */
  readonly indexes: boolean;
  /** The SQL types of its columns follow from its entity, so that a statement may cast values to them. */
  readonly types: boolean;
  /** The table is created by migrations and written by imports. */
  readonly written: boolean;
}

/** All capabilities, or none. */
const all = (has: boolean): Capabilities => ({
  counts: has,
  places: has,
  version: has,
  changes: has,
  indexes: has,
  types: has,
  written: has,
});

/** The capabilities of each kind of table. The table of `docs/resources.md` is compared with them. */
export const CAPABILITIES = {
  own: all(true),
  tracked: { ...all(false), counts: true, version: true, changes: true },
  untracked: all(false),
} as const satisfies Record<string, Capabilities>;

/** The list of the deletions of a resource shows the version of the resource. */
const OF_DELETIONS: Capabilities = { ...all(false), version: true };

/**
 * What the service can do with the table of a resource, or of deletions. Of any other table nothing is known: no trigger
 * of the service may be there.
 */
export function capabilitiesOf(resource: string | Pick<EntityMetadata, 'target'>): Capabilities {
  const isName = typeof resource === 'string';
  if (!isName && DELETIONS.has(resource.target as object)) return OF_DELETIONS;
  if (!(isName ? isResourceName(resource) : isResource(resource))) return CAPABILITIES.untracked;
  const external = isName ? externalTableNamed(resource) : externalTableOf(resource);
  if (!external) return CAPABILITIES.own;
  return external.tracked ? CAPABILITIES.tracked : CAPABILITIES.untracked;
}

/** The resources of a data source that have a capability, by name. */
export function resourcesWith(
  capability: keyof Capabilities,
  dataSource: DataSource,
): Map<string, EntityMetadata> {
  return new Map(
    [...resourcesOf(dataSource)].filter(([, metadata]) => capabilitiesOf(metadata)[capability]),
  );
}
