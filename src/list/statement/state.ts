import type { EntityMetadata } from 'typeorm';
import { hasOwnTable } from '../../resource/own-table.js';
import { coversDeclared } from '../../tally/tally-columns.js';

/**
 * SQL expressions for the state of resources, as two columns. `version` changes with every commit that
 * writes to one of them. `until` is the watermark: the data include every change before this time.
 * It is null until the first watermark is set, and for a list of an external table, whose changes have
 * no times. Such tables have no version: of these alone the state is always the same, and no response may show it.
 *
 * @param resources the listed one first
 * @param counted the listed one, for a statement that counts: without a tally as declared, it has no version
 */
export function stateOf(resources: readonly string[], counted?: EntityMetadata): string {
  const versioned = resources.filter((resource) => hasOwnTable(resource));
  if (versioned.length === 0) return `'none' AS version, NULL AS until`;
  const names = versioned.map((name) => `'${name}'`).join(', ');
  const [listed = ''] = resources;
  const until = hasOwnTable(listed) ? '(SELECT current_watermark())' : 'NULL';
  const version = `(SELECT resource_version(ARRAY[${names}])::text)`;
  const isCounted = counted && coversDeclared(counted);
  return `${isCounted ? `CASE WHEN ${isCounted} THEN ${version} END` : version} AS version,
    ${until} AS until`;
}
