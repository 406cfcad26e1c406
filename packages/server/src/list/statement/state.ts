import type { EntityMetadata } from 'typeorm';
import { hasOwnTable } from '../../resource/resource.js';

/**
 * SQL expressions for the state of resources, as three columns. `version` changes with every commit that
 * writes to one of them. `until` is the watermark: the data include every change before this time.
 * It is null until the first watermark is set, and for a list of an external table, whose changes have
 * no times. Such tables have no version: of these alone the state is always the same, and no response may show it.
 * `tally` is what the tally of the list counts, which a migration of another release may have changed: see `isInstalled`.
 *
 * @param resources the listed one first
 * @param counted the entity of the list, for a statement that may read its tally. Otherwise `tally` is null
 */
export function stateOf(resources: readonly string[], counted?: EntityMetadata): string {
  const versioned = resources.filter((resource) => hasOwnTable(resource));
  if (versioned.length === 0) return `'none' AS version, NULL AS until, NULL AS tally`;
  const names = versioned.map((name) => `'${name}'`).join(', ');
  const [listed = ''] = resources;
  const until = hasOwnTable(listed) ? '(SELECT current_watermark())' : 'NULL';
  const tally = counted && hasOwnTable(counted) ? `(SELECT installed_tally('${listed}'))` : 'NULL';
  return `(SELECT resource_version(ARRAY[${names}])::text) AS version, ${until} AS until, ${tally} AS tally`;
}
