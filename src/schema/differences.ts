import type { DataSource } from 'typeorm';
import { capabilitiesOf } from '../resource/capabilities.js';
import { resourcesOf } from '../resource/resource.js';
import type { Difference } from './difference.js';
import { disabledTriggers } from './disabled-triggers.js';
import { externalDifferences } from './external-differences.js';
import { readParts } from './parts/parts.js';
import { surplusDifferences } from './surplus-resources.js';
import { tableDifferences } from './table-differences.js';

/**
 * Compares the entities with tables, indexes, tallies and triggers. Reads no objects; takes about 50 ms.
 *
 * @throws QueryFailedError if a migration of the service itself is missing
 */
export async function differences(dataSource: DataSource): Promise<Difference[]> {
  const found = [
    ...(await tableDifferences(dataSource)),
    ...(await disabledTriggers(dataSource)),
    ...(await surplusDifferences(dataSource)),
  ];
  const partsOf = await readParts(dataSource);
  const resources = [...resourcesOf(dataSource)];
  // Tables of others first.
  resources.sort(
    ([, one], [, other]) =>
      Number(capabilitiesOf(one).written) - Number(capabilitiesOf(other).written),
  );
  for (const [resource, metadata] of resources) {
    const columns = await externalDifferences(dataSource, metadata);
    found.push(...columns.map((difference) => ({ ...difference, resource })));
    // If its table or a column is missing, the rest is reported after that is fixed.
    if (found.some((other) => other.resource === resource && other.affectsColumns)) continue;
    const slow: Difference[] = [];
    for (const { part, installed } of partsOf(metadata)) {
      for (const difference of await part.differences(metadata, installed, dataSource)) {
        if (part.isForSpeed) slow.push(difference);
        else found.push({ ...difference, resource });
      }
    }
    // Of no resource: its lists are right.
    found.push(...slow);
  }
  return found;
}
