import { behindObject } from './behind-object.js';
import { behindPage } from './behind-page.js';
import { facet } from './facet.js';
import { identifiers } from './identifiers.js';
import { ordered } from './ordered.js';
import type { PagePlan } from './plan.js';
import { placed } from './placed.js';
import { relevance } from './relevance.js';

/** The plans of pages in the order in which they are tried. The last one fits any page. */
export const PLANS: readonly PagePlan[] = [
  facet,
  identifiers,
  behindPage,
  relevance,
  behindObject,
  placed,
  ordered,
];
