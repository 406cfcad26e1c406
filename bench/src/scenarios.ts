/** What a contender is asked for. */
export interface Question {
  readonly limit: number;
  readonly offset: number;
  readonly type?: readonly string[];
  readonly brandID?: readonly string[];
  readonly brandIDNot?: readonly string[];
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
  /** The page begins at this part of the products. */
  readonly at: number;
  /** Whether another process commits ten small changes a second meanwhile. */
  readonly writing?: true;
  /** Whether the client sends the entity tag that it was given. */
  readonly conditional?: true;
}

export const SCENARIOS: readonly Scenario[] = [
  { name: 'first page', at: 0 },
  { name: 'page at 90 %', at: 0.9 },
  { name: '304', at: 0, conditional: true },
  { name: 'first page, writer', at: 0, writing: true },
];

/** What a scenario asks for of so many products. */
export function questionOf({ at }: Scenario, rows: number): Question {
  return { limit: PAGE, offset: Math.floor((at * rows) / PAGE) * PAGE };
}
