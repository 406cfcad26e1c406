import { behindObject } from './behind-object.js';
import { behindPage } from './behind-page.js';
import { facet } from './facet.js';
import { identifiers } from './identifiers.js';
import { ordered } from './ordered.js';
import type { PageToRead } from '../statement/page-request.js';
import type { PagePlan } from './page-plan.js';
import { placed } from './placed.js';
import { relevance } from './relevance.js';

/**
 * The plans of pages in the order in which they are tried. The last one fits any page. `PageReader` asks the first one
 * before it looks up what is remembered of the list.
 */
export const PLANS: readonly PagePlan[] = [
  facet,
  identifiers,
  behindPage,
  relevance,
  behindObject,
  placed,
  ordered,
];

/** The first plan that fits a page. */
export function planOf(page: PageToRead): PagePlan {
  return PLANS.find(({ unfit }) => unfit(page) === undefined) ?? ordered;
}
