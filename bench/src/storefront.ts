import { oneOf, type Random, seeded } from './random.js';
import { PAGE, type Question } from './scenarios.js';
import {
  brandID,
  categoryID,
  COLOURS,
  COMMON_WORD,
  HIGHEST_PRICE,
  OTHER_NAMES,
  productID,
  RANKS,
  RARE_WORDS,
  SHARE,
  SIZES,
  skewedRank,
  TREE,
  TYPES,
  USUAL_WORDS,
} from './storefront-data.js';

/** A kind of list that visitors of a storefront ask for. */
export interface StorefrontList {
  readonly name: string;
  /** Of a hundred requests of the mix. */
  readonly weight: number;
  /** Whether its pages are asked for one after the other. */
  readonly isWalk?: true;
  /** Whether no other contender has such a list. */
  readonly isOwn?: true;
  /** One of them; of a walk the first page. */
  draw(from: Choice): Question;
}

/** What a list is drawn from. */
interface Choice {
  readonly random: Random;
  /** Products. */
  readonly rows: number;
  /** So many of the most frequent brands and categories. */
  readonly ranks: number;
}

/** The list to which the others are compared: any page of all products. */
export const PLAIN_PAGE = 'plain page';

/** Ten intervals of all prices. */
const INTERVALS = `facets=price&bounds=${Array.from({ length: 9 }, (_, at) => Math.round(((at + 1) * HIGHEST_PRICE) / 10)).join()}`;

type Type = (typeof TYPES)[number];
const PAIRS: readonly [Type[], ...Type[][]] = [
  ['PHYSICAL', 'DIGITAL'],
  ['PHYSICAL', 'SERVICE'],
  ['DIGITAL', 'SERVICE'],
];

/**
 * The weights are an assumption, not a shop's log. Most visitors open a category, narrow and sort it
 * and turn its pages (63 of 100). Some search (18) or narrow the whole catalogue by brand, type or
 * price (13). Few, crawlers among them, go far into a list (6).
 */
export const STOREFRONT: readonly StorefrontList[] = [
  {
    name: PLAIN_PAGE,
    weight: 1,
    draw: ({ random, rows }) => list({ offset: pageAt(random(), rows) }),
  },
  {
    name: 'category',
    weight: 20,
    draw: (from) => list({ ...category(from), offset: firstPages(from.random) }),
  },
  {
    name: 'category and type',
    weight: 10,
    draw: (from) =>
      list({ ...category(from), ...type(from.random), offset: firstPages(from.random) }),
  },
  {
    name: 'category and brand',
    weight: 10,
    draw: (from) => list({ ...category(from), ...brands(from, 1) }),
  },
  {
    name: 'category, by price, descending',
    weight: 10,
    draw: (from) =>
      list({
        ...category(from),
        offset: firstPages(from.random),
        sort: { by: 'price', down: true },
      }),
  },
  {
    name: 'category, type and price range, by name',
    weight: 5,
    draw: (from) =>
      list({
        ...category(from),
        ...type(from.random),
        ...prices(from.random),
        sort: { by: 'name' },
      }),
  },
  {
    name: 'three brands',
    weight: 5,
    draw: (from) => list(brands(from, 3)),
  },
  {
    name: 'two types, at 70 %',
    weight: 1,
    draw: twoTypesDeep,
  },
  {
    name: 'in stock and type',
    weight: 3,
    draw: ({ random }) => list({ ...type(random), inStock: true, offset: firstPages(random, 10) }),
  },
  {
    name: 'price range',
    weight: 3,
    draw: ({ random }) => list(prices(random)),
  },
  {
    name: 'price range, at 60 %',
    weight: 1,
    draw: pricesDeep,
  },
  {
    name: 'by price, descending, at 90 %',
    weight: 1,
    draw: ({ random, rows }) =>
      list({ sort: { by: 'price', down: true }, offset: pageAt(around(random, 0.9), rows) }),
  },
  {
    name: 'by name, at 50 %',
    weight: 1,
    draw: ({ random, rows }) =>
      list({ sort: { by: 'name' }, offset: pageAt(around(random, 0.5), rows) }),
  },
  {
    name: 'type, by price, at 50 %',
    weight: 1,
    draw: typeByPriceDeep,
  },
  {
    name: 'rare word',
    weight: 6,
    draw: ({ random }) => list({ q: oneOf(random, RARE_WORDS) }),
  },
  {
    name: 'common word',
    weight: 2,
    draw: ({ random }) => list({ q: COMMON_WORD, offset: firstPages(random, 30) }),
  },
  {
    name: 'common word and type',
    weight: 2,
    draw: ({ random }) => list({ q: COMMON_WORD, ...type(random), offset: firstPages(random, 30) }),
  },
  {
    name: 'word and category',
    weight: 6,
    draw: (from) => list({ q: oneOf(from.random, USUAL_WORDS), ...category(from) }),
  },
  {
    name: 'walk: category, by price',
    weight: 8,
    isWalk: true,
    draw: (from) => list({ ...category(from), sort: { by: 'price', down: from.random() < 0.5 } }),
  },
  {
    name: 'walk: word',
    weight: 2,
    isWalk: true,
    draw: ({ random }) => list({ q: oneOf(random, USUAL_WORDS), ...type(random) }),
  },
  {
    name: 'walk: price range, by price',
    weight: 2,
    isWalk: true,
    draw: (from) => list({ ...prices(from.random), sort: { by: 'price' } }),
  },
  {
    name: 'facets of all products',
    weight: 0,
    isOwn: true,
    draw: () => list({ facets: true }),
  },
  {
    name: 'facets, category and type',
    weight: 0,
    isOwn: true,
    draw: (from) => list({ ...category(from), ...type(from.random), facets: true }),
  },
  {
    name: 'facets, category and brand',
    weight: 0,
    isOwn: true,
    draw: (from) => list({ ...category(from), ...brands(from, 1), facets: true }),
  },
  {
    name: 'facets, stock and type',
    weight: 0,
    isOwn: true,
    draw: ({ random }) => list({ ...type(random), inStock: true, facets: true }),
  },
  {
    name: 'facets, price range',
    weight: 0,
    isOwn: true,
    draw: ({ random }) => list({ ...prices(random), facets: true }),
  },
  {
    name: 'facets of single values, price range',
    weight: 0,
    isOwn: true,
    draw: ({ random }) =>
      list({ ...prices(random), facets: 'facets=type,brandID,categoryID,currency,inStock' }),
  },
  {
    name: 'facets, word and price range',
    weight: 0,
    isOwn: true,
    draw: ({ random }) => list({ q: oneOf(random, USUAL_WORDS), ...prices(random), facets: true }),
  },
  {
    name: 'limits of the price',
    weight: 0,
    isOwn: true,
    draw: () => list({ facets: 'facets=price' }),
  },
  {
    name: 'limits of the price, category and type',
    weight: 0,
    isOwn: true,
    draw: (from) => list({ ...category(from), ...type(from.random), facets: 'facets=price' }),
  },
  {
    name: 'limits of the price, word',
    weight: 0,
    isOwn: true,
    draw: ({ random }) => list({ q: oneOf(random, USUAL_WORDS), facets: 'facets=price' }),
  },
  {
    name: 'ten intervals of the price',
    weight: 0,
    isOwn: true,
    draw: () => list({ facets: INTERVALS }),
  },
  {
    name: 'ten intervals of the price, type',
    weight: 0,
    isOwn: true,
    draw: ({ random }) => list({ ...type(random), facets: INTERVALS }),
  },
  {
    name: 'ten intervals of the price, category',
    weight: 0,
    isOwn: true,
    draw: (from) => list({ ...category(from), facets: INTERVALS }),
  },
  {
    name: 'categories with all below them',
    weight: 0,
    isOwn: true,
    draw: () => list({ facets: 'facets=within' }),
  },
  {
    name: 'categories with all below them, type',
    weight: 0,
    isOwn: true,
    draw: ({ random }) => list({ ...type(random), facets: 'facets=within' }),
  },
  {
    name: 'brands that begin so',
    weight: 0,
    isOwn: true,
    draw: () => list({ facets: 'facets=brandID&facetStarts=name+of+1' }),
  },
  {
    name: 'subtree of 50 categories',
    weight: 0,
    isOwn: true,
    draw: ({ random }) =>
      list({
        within: categoryID(TREE * Math.floor((random() * RANKS) / TREE)),
        offset: firstPages(random),
      }),
  },
  {
    name: 'plain page with brand and category',
    weight: 0,
    isOwn: true,
    draw: ({ random, rows }) => list({ include: 'brand,category', offset: pageAt(random(), rows) }),
  },
  {
    name: 'plain page with variants',
    weight: 0,
    isOwn: true,
    draw: ({ random, rows }) => list({ include: 'variants', offset: pageAt(random(), rows) }),
  },
  {
    name: 'a rare name of a variant',
    weight: 0,
    isOwn: true,
    draw: ({ random }) => list({ variant: `No. ${Math.floor(random() * OTHER_NAMES)}` }),
  },
  {
    name: 'a common name of a variant',
    weight: 0,
    isOwn: true,
    draw: ({ random }) => list({ variant: oneOf(random, SIZES) }),
  },
  {
    name: 'a colour',
    weight: 0,
    isOwn: true,
    draw: ({ random }) => list({ colours: oneOf(random, COLOURS) }),
  },
  {
    name: 'facets of colours',
    weight: 0,
    isOwn: true,
    draw: () => list({ facets: 'facets=colours' }),
  },
  {
    name: 'facets of colours, type',
    weight: 0,
    isOwn: true,
    draw: ({ random }) => list({ ...type(random), facets: 'facets=colours' }),
  },
  {
    name: 'facets of colours, category and type',
    weight: 0,
    isOwn: true,
    draw: (from) => list({ ...category(from), ...type(from.random), facets: 'facets=colours' }),
  },
  {
    name: 'behind a product',
    weight: 0,
    isOwn: true,
    draw: ({ random, rows }) => list({ after: productID(Math.floor(random() * rows)) }),
  },
  {
    name: 'behind a product, by price, descending',
    weight: 0,
    isOwn: true,
    draw: ({ random, rows }) =>
      list({ after: productID(Math.floor(random() * rows)), sort: { by: 'price', down: true } }),
  },
];

function twoTypesDeep({ random, rows }: Choice): Question {
  const types = oneOf(random, PAIRS);
  const share = types.reduce((sum, each) => sum + SHARE[each], 0);
  return list({ type: types, offset: pageAt(around(random, 0.7), share * rows) });
}

function pricesDeep({ random, rows }: Choice): Question {
  const interval = prices(random);
  const share = (Number(interval.priceMax) - Number(interval.priceMin)) / HIGHEST_PRICE;
  return list({ ...interval, offset: pageAt(around(random, 0.6), share * rows) });
}

function typeByPriceDeep({ random, rows }: Choice): Question {
  const one = oneOf(random, TYPES);
  const offset = pageAt(around(random, 0.5), SHARE[one] * rows);
  return list({ type: [one], sort: { by: 'price' }, offset });
}

function list(question: Partial<Question>): Question {
  return { limit: PAGE, offset: 0, ...question };
}

/** The offset of the page at a part of so many products. */
function pageAt(part: number, products: number): number {
  return Math.floor((part * products) / PAGE) * PAGE;
}

/** A part near another, so that hardly two pages are the same. */
function around(random: Random, part: number): number {
  return part - 0.05 + 0.1 * random();
}

/** The offset of one of the first pages, mostly of the first. */
function firstPages(random: Random, pages = 3): number {
  return PAGE * Math.floor(pages * random() ** 2);
}

function category({ random, ranks }: Choice): Partial<Question> {
  return { categoryID: categoryID(skewedRank(random, ranks)) };
}

function type(random: Random): Partial<Question> {
  return { type: [oneOf(random, TYPES)] };
}

function brands({ random, ranks }: Choice, count: number): Partial<Question> {
  const chosen = new Set<string>();
  while (chosen.size < count) chosen.add(brandID(skewedRank(random, ranks)));
  return { brandID: [...chosen] };
}

/** From a tenth to half of all prices. */
function prices(random: Random): { priceMin: string; priceMax: string } {
  const width = HIGHEST_PRICE * (0.1 + 0.4 * random());
  const minimum = (HIGHEST_PRICE - width) * random();
  return { priceMin: minimum.toFixed(2), priceMax: (minimum + width).toFixed(2) };
}

/** A request of the mix. */
export interface Request {
  readonly question: Question;
  /** Whether the run has asked for this very page before. */
  readonly isRepeated: boolean;
}

/** How many pages a walk of the mix has, and how many walks of a kind go on at a time. */
const WALK_PAGES = 10;
const WALKS = 4;
/** How often a page that was asked for before is drawn again. Of some lists there are few. */
const DRAWS = 20;

/** Draws requests, the same ones in every run, and no page twice as long as there are others. */
export class StorefrontRequests {
  private readonly random: Random;
  private readonly asked = new Set<string>();
  private readonly walks = new Map<StorefrontList, Question[]>();

  constructor(private readonly rows: number) {
    this.random = seeded(rows + 1);
  }

  /** Some of the mix. Its walks begin with it. */
  mix(count: number): Request[] {
    this.walks.clear();
    return Array.from({ length: count }, () => {
      const kind = this.kind();
      return kind.isWalk ? this.nextPage(kind) : this.draw(kind);
    });
  }

  /**
   * One of a kind; of a walk the first page. `ranks`: of that many of the most frequent brands and
   * categories.
   */
  draw(kind: StorefrontList, ranks = RANKS): Request {
    const choice = { random: this.random, rows: this.rows, ranks };
    let question = kind.draw(choice);
    for (let draws = 1; draws < DRAWS && this.asked.has(key(question)); draws += 1) {
      question = kind.draw(choice);
    }
    return this.request(question);
  }

  /** Takes back requests that were not sent. */
  takeBack(requests: readonly Request[]): void {
    for (const { question, isRepeated } of requests) {
      if (!isRepeated) this.asked.delete(key(question));
    }
  }

  private nextPage(kind: StorefrontList): Request {
    const walks = this.walks.get(kind) ?? [];
    this.walks.set(kind, walks);
    const at = Math.floor(this.random() * WALKS);
    const last = walks[at];
    const request =
      last && last.offset < (WALK_PAGES - 1) * PAGE
        ? this.request(pageAfter(last))
        : this.draw(kind);
    walks[at] = request.question;
    return request;
  }

  private request(question: Question): Request {
    const isRepeated = this.asked.has(key(question));
    this.asked.add(key(question));
    return { question, isRepeated };
  }

  private kind(): StorefrontList {
    const total = STOREFRONT.reduce((sum, { weight }) => sum + weight, 0);
    let left = this.random() * total;
    for (const kind of STOREFRONT) {
      left -= kind.weight;
      if (left < 0) return kind;
    }
    throw new Error('There is no list with a weight');
  }
}

export function pageAfter(question: Question): Question {
  return { ...question, offset: question.offset + question.limit };
}

function key(question: Question): string {
  return JSON.stringify(question);
}
