import type { DataSource, EntityMetadata } from 'typeorm';
import { hasOwnTable, ownResources } from '../../resource/own-table.js';
import { nameOf } from '../../resource/resource.js';
import { type Changes, schemaChanges } from '../schema-changes.js';
import { deletions } from './deletions.js';
import { derivedColumns } from './derived.js';
import { listIndexes } from './list-indexes.js';
import type { Part, Statements } from './part.js';
import { tally } from './tally.js';
import { updatedAtTrigger } from './updated-at-trigger.js';
import { words } from './words.js';

/** In the order in which a migration installs them. */
const PARTS: readonly Part<unknown>[] = [
  listIndexes,
  updatedAtTrigger,
  deletions,
  words,
  tally,
  derivedColumns,
];

/**
 * Reads what is installed of every part.
 *
 * @returns the parts of a resource, with what is installed of each; `undefined` for nothing. An external table has none
 */
export async function readParts(
  dataSource: DataSource,
): Promise<(metadata: EntityMetadata) => { part: Part<unknown>; installed: unknown }[]> {
  const read: { part: Part<unknown>; byResource: ReadonlyMap<string, unknown> }[] = [];
  for (const part of PARTS) read.push({ part, byResource: await part.read(dataSource) });
  return (metadata) =>
    hasOwnTable(metadata)
      ? read.map(({ part, byResource }) => ({ part, installed: byResource.get(nameOf(metadata)) }))
      : [];
}

/** The statements that bring tables, indexes, triggers and tallies in line with the entities. Only reads. */
export async function migrationChanges(dataSource: DataSource): Promise<Changes> {
  const changes = await schemaChanges(dataSource);
  const up: Statements = { first: [], tables: [...changes.up], last: [] };
  const down: Statements = { first: [], tables: [...changes.down], last: [] };
  const partsOf = await readParts(dataSource);
  for (const metadata of ownResources(dataSource).values()) {
    for (const { part, installed } of partsOf(metadata)) {
      part.migrate(metadata, installed, { up, down });
    }
  }
  return { up: inOrder(up), down: inOrder(down) };
}

function inOrder({ first, tables, last }: Statements): string[] {
  return [...first, ...tables, ...last];
}
