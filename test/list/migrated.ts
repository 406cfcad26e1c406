import type { Type } from '@nestjs/common';
import { migrationChanges } from '../../src/schema/parts/parts.js';
import { type Service, startService } from '../service.js';

/** Starts the service with the resource of a module of a test, and creates what its entity declares. */
export async function startWith(
  module: Type,
  {
    before = [],
    environment = {},
  }: { before?: readonly string[]; environment?: NodeJS.ProcessEnv } = {},
): Promise<Service> {
  const service = await startService(environment, module);
  const { up } = await migrationChanges(service.dataSource);
  // The indexes, the triggers and the tally of the service come behind all tables.
  const created = up.findLastIndex((statement) => statement.startsWith('CREATE TABLE')) + 1;
  for (const statement of [...up.slice(0, created), ...before, ...up.slice(created)]) {
    await service.dataSource.query(statement);
  }
  return service;
}
