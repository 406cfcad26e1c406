import type { EntityMetadata } from 'typeorm';
import { hasOwnTable } from '../resource/own-table.js';
import { declaredColumns } from '../resource/declaration.js';
import { columnOf, nameOf } from '../resource/resource.js';
import { joined, namesOf } from './facet.js';
import { facetColumnsOf } from './tally.js';

/**
 * What a tally counts by: columns, or combinations of columns such as `categoryID+type`. Each option is a column of the
 * table `tallies` and an argument of `install_tally`, in this order.
 */
export interface TallyColumns {
  readonly counted: readonly string[];
  readonly sorted: readonly string[];
  readonly searched: readonly string[];
  readonly intervals: readonly string[];
}

/** What the tally of a resource counts by according to its entity. */
export function declaredTally(metadata: EntityMetadata): TallyColumns {
  const { sorted, searched, items, intervals } = declaredColumns(metadata);
  const databaseNames = (properties: readonly string[]): string[] =>
    properties.map((name) => columnOf(metadata, name).databaseName);
  return {
    counted: [...facetColumnsOf(metadata).map(namesOf), ...databaseNames(items)],
    sorted: databaseNames(sorted),
    searched: databaseNames(searched),
    intervals: intervals.map(({ of, within }) => joined(databaseNames([...within, of]))),
  };
}

/** What `coversDeclared` returns, which every list asks for. */
const CONDITIONS = new WeakMap<EntityMetadata, string>();

/**
 * A condition in SQL: the tally of a resource counts by all that its entity declares.
 *
 * @returns `undefined` for a list without a tally
 */
export function coversDeclared(metadata: EntityMetadata): string | undefined {
  if (!hasOwnTable(metadata)) return undefined;
  const known = CONDITIONS.get(metadata);
  if (known) return known;
  const { counted, sorted, searched, intervals } = declaredTally(metadata);
  const options = [counted, sorted, searched, intervals];
  const condition = `tally_covers('${nameOf(metadata)}', ${options.map(namesArray).join(', ')})`;
  CONDITIONS.set(metadata, condition);
  return condition;
}

/** The SQL of an array of names of columns. */
export function namesArray(names: readonly string[]): string {
  return `'{${names.join()}}'`;
}
