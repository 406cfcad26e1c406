import type { EntityMetadata } from 'typeorm';
import { type Statement, statement } from '../database/statement.js';

/** Statements of a resource that each connection keeps; clients choose of what fields they are. */
const MOST_NARROWED = 100;

const kept = new WeakMap<EntityMetadata, Map<string, Statement>>();

/**
 * The statement of a resource for some use, made once and prepared; for narrowed objects only as
 * long as there are few of them.
 *
 * @param use tells it from the others for the same fields
 * @param fields those that it selects, all unless given
 */
export function keptStatement(
  metadata: EntityMetadata,
  use: string,
  fields: readonly string[] | undefined,
  text: () => string,
): Statement {
  let known = kept.get(metadata);
  if (!known) kept.set(metadata, (known = new Map<string, Statement>()));
  const name = `${use}: ${fields?.join() ?? ''}`;
  const found = known.get(name);
  if (found) return found;
  const prepared = !fields || known.size < MOST_NARROWED;
  const made = statement(text(), { prepared });
  if (prepared) known.set(name, made);
  return made;
}
