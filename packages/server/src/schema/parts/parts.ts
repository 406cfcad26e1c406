import type { EntityMetadata } from 'typeorm';
import { hasOwnTable, nameOf } from '../../resource/resource.js';
import { deletions } from './deletions.js';
import { derivedColumns } from './derived.js';
import { indexes } from './list-indexes.js';
import type { Part, Queries } from './part.js';
import { tally } from './tally.js';
import { updatedAtTrigger } from './updated-at-trigger.js';
import { words } from './words.js';

/** By what an operator calls them, in the order in which they are installed: the tally counts words. */
const PARTS: Readonly<Record<string, Part<unknown>>> = {
  indexes,
  'time of changes': updatedAtTrigger,
  deletions,
  words,
  tally,
  'derived columns': derivedColumns,
};

/** A part of a resource, with what is installed of it; `undefined` for nothing. */
interface ReadPart {
  readonly name: string;
  readonly part: Part<unknown>;
  readonly installed: unknown;
}

/**
 * Reads what is installed of every part.
 *
 * @param resources with a table of their own
 * @returns the parts of a resource. An external table has none
 */
export async function readParts(
  queries: Queries,
  resources: readonly string[],
): Promise<(metadata: EntityMetadata) => ReadPart[]> {
  const read: (Omit<ReadPart, 'installed'> & { states: ReadonlyMap<string, unknown> })[] = [];
  for (const [name, part] of Object.entries(PARTS))
    read.push({ name, part, states: await part.read(queries, resources) });
  return (metadata) =>
    hasOwnTable(metadata)
      ? read.map(({ states, ...each }) => ({ ...each, installed: states.get(nameOf(metadata)) }))
      : [];
}

/** Whether lists are slow without a part, but right. */
export function isForSpeed(part: Part<unknown>): boolean {
  return part === indexes;
}
