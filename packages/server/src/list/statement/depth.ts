import { ASSUMED_OBJECTS } from '../../database/planner.js';
import { hasOwnTable } from '../../resource/resource.js';
import { EVERY_OBJECT, facetNames } from '../../tally/facet.js';
import { tallyOf, wordTallyOf } from '../../tally/described-tally.js';
import { tallyRows, wordCountOf } from '../../tally/tally.js';
import { compareNothing, facetsOf } from './criteria.js';
import type { Picking } from './picked-objects.js';

/** How deep in its list a page begins, and what it takes to read up to there. All members but the last are SQL expressions. */
export interface Depth {
  /** Absent: the first page. */
  readonly offset?: string;
  /**
   * How many objects the index in the order of the list has, matching ones and others. Absent if the list
   * has no conditions.
   */
  readonly indexSize?: string;
  /**
   * How many objects contain a common word that is searched for, if other conditions have to be met as well.
   * An index finds all of them before the other conditions leave some.
   */
  readonly searchSize?: string;
  /** Whether there is a table `collected` of all matching objects, if they are to be sorted; see the count plan of this name. */
  readonly isCollected?: boolean;
}

export function depthAt(picking: Picking, offset: string | undefined): Depth {
  // A statement must refer to every parameter that is added.
  if (picking.where === '') return { offset };
  return { offset, indexSize: indexSizeOf(picking), searchSize: searchSizeOf(picking) };
}

/** All objects, or in the order of the identifier those with the one value of a counted column. */
export function indexSizeOf({ metadata, criteria, order, values }: Picking): string {
  if (!hasOwnTable(metadata)) return String(ASSUMED_OBJECTS);
  const single = order.length === 1 && criteria ? [...criteria.equal] : [];
  const facets = single
    .filter(([, equals]) => equals.length === 1)
    .flatMap((criterion) => facetsOf(metadata, new Map([criterion])) ?? []);
  const names = facetNames([EVERY_OBJECT, ...facets], values);
  const rows = tallyRows(tallyOf(metadata).byIdentifier, `WHERE facet = ANY(${names})`);
  return `(SELECT min(count) FROM (SELECT sum(count) AS count FROM ${rows} GROUP BY facet) facets)`;
}

/** 0 unless the search is for one word, and a counted one; `undefined` if nothing else is compared. */
function searchSizeOf({ metadata, search, criteria, values }: Picking): string | undefined {
  if (!search || (criteria && compareNothing(criteria))) return undefined;
  const tally = wordTallyOf(metadata, search);
  if (!tally) return undefined;
  return `coalesce(${wordCountOf(tally, search.words, false, [EVERY_OBJECT], values)}, 0)`;
}
