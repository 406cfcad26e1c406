import type { DataSource, EntityMetadata } from 'typeorm';
import { nameOf } from '../../resource/resource.js';
import { deletions } from './deletions.js';
import { listIndexes } from './list-indexes.js';
import type { Part } from './part.js';
import { tally } from './tally.js';
import { tracking } from './tracking.js';
import { updatedAtTrigger } from './updated-at-trigger.js';
import { words } from './words.js';

/** In the order in which a migration installs them. */
const PARTS: readonly Part<unknown>[] = [
  listIndexes,
  updatedAtTrigger,
  deletions,
  words,
  tally,
  tracking,
];

/**
 * Reads what is installed of every part.
 *
 * @returns the parts that a resource can have, with what is installed of each; `undefined` for nothing
 */
export async function readParts(
  dataSource: DataSource,
): Promise<(metadata: EntityMetadata) => { part: Part<unknown>; installed: unknown }[]> {
  const read: { part: Part<unknown>; byResource: ReadonlyMap<string, unknown> }[] = [];
  for (const part of PARTS) read.push({ part, byResource: await part.read(dataSource) });
  return (metadata) =>
    read
      .filter(({ part }) => part.isOf(metadata))
      .map(({ part, byResource }) => ({ part, installed: byResource.get(nameOf(metadata)) }));
}
