import type { DataSource } from 'typeorm';
import { resourcesOf } from '../../src/resource/resource.js';
import { declaredTracking, trackTable } from '../../src/schema/parts/tracking.js';

/** The statements that track every table of others, also those of resources that a project has added. */
export function trackStatements(dataSource: DataSource): string[] {
  return [...resourcesOf(dataSource)].flatMap(([resource, metadata]) => {
    const declared = declaredTracking(metadata);
    return declared ? [trackTable(resource, declared)] : [];
  });
}
