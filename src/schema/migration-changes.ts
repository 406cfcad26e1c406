import type { DataSource } from 'typeorm';
import { resourcesOf } from '../resource/resource.js';
import type { Statements } from './parts/part.js';
import { readParts } from './parts/parts.js';
import { type Changes, schemaChanges } from './schema-changes.js';

/** The statements that bring tables, indexes, triggers and tallies in line with the entities. Only reads. */
export async function migrationChanges(dataSource: DataSource): Promise<Changes> {
  const changes = await schemaChanges(dataSource);
  const up: Statements = { first: [], tables: [...changes.up], last: [] };
  const down: Statements = { first: [], tables: [...changes.down], last: [] };
  const partsOf = await readParts(dataSource);
  for (const metadata of resourcesOf(dataSource).values()) {
    for (const { part, installed } of partsOf(metadata)) {
      part.migrate(metadata, installed, { up, down });
    }
  }
  return { up: inOrder(up), down: inOrder(down) };
}

function inOrder({ first, tables, last }: Statements): string[] {
  return [...first, ...tables, ...last];
}
