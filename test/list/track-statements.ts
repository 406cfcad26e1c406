import type { DataSource } from 'typeorm';
import { externalTableOf, resourcesOf } from '../../src/resource/resource.js';
import { trackTable } from '../../src/schema/install-statements.js';

/** The statements that track every table of others, also those of resources that a project has added. */
export function trackStatements(dataSource: DataSource): string[] {
  return [...resourcesOf(dataSource).values()].flatMap((metadata) => {
    const external = externalTableOf(metadata);
    return external?.tracked ? [trackTable(metadata, external)] : [];
  });
}
