import { SHARE } from './storefront-data.js';

/** What a contender is asked for. */
export interface Question {
  readonly limit: number;
  readonly offset: number;
  readonly type?: readonly string[];
  readonly fields?: readonly string[];
  readonly brandID?: readonly string[];
  readonly categoryID?: string;
  readonly priceMin?: string;
  readonly priceMax?: string;
  readonly inStock?: true;
  readonly q?: string;
  /** A category, with all below it. */
  readonly within?: string;
  readonly include?: string;
  readonly colours?: string;
  /** The name of a variant. */
  readonly variant?: string;
  /** The product behind which the page begins. */
  readonly after?: string;
  /** Asks for the facet counts of the list in place of its objects: with these parameters, or all of them. */
  readonly facets?: true | string;
  /** Objects without a value come last in both directions, and ties are in the direction of the sort. */
  readonly sort?: { readonly by: 'price' | 'name'; readonly down?: boolean };
}

/** Objects of a page. */
export const PAGE = 50;

export interface Scenario {
  readonly name: string;
  readonly question: Question;
  /** Whether another process commits ten small changes a second meanwhile. */
  readonly writing: boolean;
  /** Whether the client sends the entity tag that it was given. */
  readonly conditional: boolean;
}

export const SCENARIO_NAMES = scenariosOf(0).map(({ name }) => name);

/** The scenarios on a number of products. */
export function scenariosOf(rows: number): Scenario[] {
  const page = (offset: number): number => Math.floor(offset / PAGE) * PAGE;
  const deep = page(rows * 0.9);
  const scenario = (name: string, question: Partial<Question>, more = {}): Scenario => ({
    name,
    question: { limit: PAGE, offset: 0, ...question },
    writing: false,
    conditional: false,
    ...more,
  });
  return [
    scenario('first page', {}),
    scenario('page at 90 %', { offset: deep }),
    scenario('filtered', { type: ['DIGITAL'] }),
    scenario('filtered, at 90 %', { type: ['DIGITAL'], offset: page(SHARE.DIGITAL * rows * 0.9) }),
    scenario('two fields', { fields: ['productID', 'name'] }),
    scenario('304', {}, { conditional: true }),
    scenario('first page, writer', {}, { writing: true }),
    scenario('page at 90 %, writer', { offset: deep }, { writing: true }),
  ];
}
