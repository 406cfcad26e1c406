import { oneOf, type Random, seeded } from './random.js';
import { PAGE, type Question } from './scenarios.js';
import {
  brandID,
  categoryID,
  COLOURS,
  COMMON,
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
  readonly isWalk?: true | undefined;
  /** Whether no other contender has such a list. */
  readonly isOwn?: true;
  /** One of them; of a walk the first page. */
  readonly draw: Draw;
}

/** What a list asks for besides its first page. */
type Draw = (from: Choice) => Partial<Question>;

/** What a list is drawn from. */
interface Choice {
  readonly random: Random;
  /** Products. */
  readonly rows: number;
  /** So many of the most frequent brands and categories. */
  readonly ranks: number;
}

/** Ten intervals of all prices. */
const INTERVALS = `facets=price&bounds=${Array.from({ length: 9 }, (_, at) => Math.round(((at + 1) * HIGHEST_PRICE) / 10)).join()}`;

/**
 * The weights are an assumption, not a shop's log. Most visitors open a category, narrow and sort it
 * and turn its pages (63 of 100). Some search (18) or narrow the whole catalogue by brand, type or
 * price (13). Few, crawlers among them, go far into a list (6).
 */
const MIXED: readonly [name: string, weight: number, draw: Draw, isWalk?: true][] = [
  ['plain page', 1, anyPage],
  ['category', 20, inCategory],
  ['category and type', 10, (from) => ({ ...categoryAndType(from), ...firstPages(from) })],
  ['category and brand', 10, (from) => ({ ...category(from), ...brands(from, 1) })],
  ['category, by price, descending', 10, (from) => ({ ...inCategory(from), ...byPrice(true) })],
  [
    'category, type and price range, by name',
    5,
    (from) => ({ ...categoryAndType(from), ...prices(from), sort: { by: 'name' } }),
  ],
  ['three brands', 5, (from) => brands(from, 3)],
  ['two types, at 70 %', 1, twoTypesDeep],
  ['in stock and type', 3, (from) => ({ ...type(from), inStock: true, ...firstPages(from, 10) })],
  ['price range', 3, prices],
  ['price range, at 60 %', 1, pricesDeep],
  ['by price, descending, at 90 %', 1, (from) => ({ ...byPrice(true), ...pageNear(from, 0.9) })],
  ['by name, at 50 %', 1, (from) => ({ sort: { by: 'name' }, ...pageNear(from, 0.5) })],
  ['type, by price, at 50 %', 1, typeByPriceDeep],
  ['rare word', 6, ({ random }) => ({ q: oneOf(random, RARE_WORDS) })],
  ['common word', 2, (from) => ({ q: COMMON, ...firstPages(from, 30) })],
  ['common word and type', 2, (from) => ({ q: COMMON, ...type(from), ...firstPages(from, 30) })],
  ['word and category', 6, (from) => ({ ...usualWord(from), ...category(from) })],
  [
    'walk: category, by price',
    8,
    (from) => ({ ...category(from), ...byPrice(from.random() < 0.5) }),
    true,
  ],
  ['walk: word', 2, (from) => ({ ...usualWord(from), ...type(from) }), true],
  ['walk: price range, by price', 2, (from) => ({ ...prices(from), ...byPrice() }), true],
];

const OWN: readonly [name: string, draw: Draw][] = [
  ['facets of all products', () => ({ facets: true })],
  ['facets, category and type', (from) => ({ ...categoryAndType(from), facets: true })],
  [
    'facets, category and brand',
    (from) => ({ ...category(from), ...brands(from, 1), facets: true }),
  ],
  ['facets, stock and type', (from) => ({ ...type(from), inStock: true, facets: true })],
  ['facets, price range', (from) => ({ ...prices(from), facets: true })],
  [
    'facets of single values, price range',
    (from) => ({ ...prices(from), facets: 'facets=type,brandID,categoryID,currency,inStock' }),
  ],
  [
    'facets, word and price range',
    (from) => ({ ...usualWord(from), ...prices(from), facets: true }),
  ],
  [
    'facets, category and price range',
    (from) => ({ ...category(from), ...prices(from), facets: true }),
  ],
  ['facets, word', (from) => ({ ...usualWord(from), facets: true })],
  ['limits of the price', () => ({ facets: 'facets=price' })],
  [
    'limits of the price, category and type',
    (from) => ({ ...categoryAndType(from), facets: 'facets=price' }),
  ],
  ['limits of the price, word', (from) => ({ ...usualWord(from), facets: 'facets=price' })],
  ['ten intervals of the price', () => ({ facets: INTERVALS })],
  ['ten intervals of the price, type', (from) => ({ ...type(from), facets: INTERVALS })],
  ['ten intervals of the price, category', (from) => ({ ...category(from), facets: INTERVALS })],
  ['categories with all below them', () => ({ facets: 'facets=within' })],
  ['categories with all below them, type', (from) => ({ ...type(from), facets: 'facets=within' })],
  ['brands that begin so', () => ({ facets: 'facets=brandID&facetStarts=name+of+1' })],
  ['subtree of 50 categories', (from) => ({ ...subtree(from), ...firstPages(from) })],
  [
    'plain page with brand and category',
    (from) => ({ include: 'brand,category', ...anyPage(from) }),
  ],
  ['plain page with variants', (from) => ({ include: 'variants', ...anyPage(from) })],
  [
    'a rare name of a variant',
    ({ random }) => ({ variant: `No. ${Math.floor(random() * OTHER_NAMES)}` }),
  ],
  ['a common name of a variant', ({ random }) => ({ variant: oneOf(random, SIZES) })],
  ['all but a brand, by price, at 50 %', allButBrandDeep],
  ['a colour', ({ random }) => ({ colours: oneOf(random, COLOURS) })],
  ['facets of colours', () => ({ facets: 'facets=colours' })],
  ['facets of colours, type', (from) => ({ ...type(from), facets: 'facets=colours' })],
  [
    'facets of colours, category and type',
    (from) => ({ ...categoryAndType(from), facets: 'facets=colours' }),
  ],
  ['behind a product', behindAny],
  ['behind a product, by price, descending', (from) => ({ ...behindAny(from), ...byPrice(true) })],
];

export const STOREFRONT: readonly StorefrontList[] = [
  ...MIXED.map(([name, weight, draw, isWalk]) => ({ name, weight, draw, isWalk })),
  ...OWN.map(([name, draw]) => ({ name, weight: 0, draw, isOwn: true as const })),
];

function anyPage({ random, rows }: Choice): Partial<Question> {
  return { offset: pageAt(random(), rows) };
}

function behindAny({ random, rows }: Choice): Partial<Question> {
  return { after: productID(Math.floor(random() * rows)) };
}

function usualWord({ random }: Choice): Partial<Question> {
  return { q: oneOf(random, USUAL_WORDS) };
}

function byPrice(down = false): Partial<Question> {
  return { sort: { by: 'price', down } };
}

function subtree({ random }: Choice): Partial<Question> {
  return { within: categoryID(TREE * Math.floor((random() * RANKS) / TREE)) };
}

function twoTypesDeep(from: Choice): Partial<Question> {
  const left = oneOf(from.random, TYPES);
  const types = TYPES.filter((each) => each !== left);
  const share = types.reduce((sum, each) => sum + SHARE[each], 0);
  return { type: types, ...pageNear(from, 0.7, share) };
}

function pricesDeep(from: Choice): Partial<Question> {
  const interval = prices(from);
  const share = (Number(interval.priceMax) - Number(interval.priceMin)) / HIGHEST_PRICE;
  return { ...interval, ...pageNear(from, 0.6, share) };
}

function allButBrandDeep(from: Choice): Partial<Question> {
  return { brandIDNot: brands(from, 1).brandID, ...byPrice(), ...pageNear(from, 0.5) };
}

function typeByPriceDeep(from: Choice): Partial<Question> {
  const one = oneOf(from.random, TYPES);
  return { type: [one], ...byPrice(), ...pageNear(from, 0.5, SHARE[one]) };
}

/** The offset of the page at a part of so many products. */
function pageAt(part: number, products: number): number {
  return Math.floor((part * products) / PAGE) * PAGE;
}

/** A page near a part of a share of the products, so that hardly two pages are the same. */
function pageNear({ random, rows }: Choice, part: number, share = 1): Partial<Question> {
  return { offset: pageAt(part - 0.05 + 0.1 * random(), share * rows) };
}

/** One of the first pages, mostly the first. */
function firstPages({ random }: Choice, pages = 3): Partial<Question> {
  return { offset: PAGE * Math.floor(pages * random() ** 2) };
}

function category({ random, ranks }: Choice): Partial<Question> {
  return { categoryID: categoryID(skewedRank(random, ranks)) };
}

function inCategory(from: Choice): Partial<Question> {
  return { ...category(from), ...firstPages(from) };
}

function type({ random }: Choice): Partial<Question> {
  return { type: [oneOf(random, TYPES)] };
}

function categoryAndType(from: Choice): Partial<Question> {
  return { ...category(from), ...type(from) };
}

function brands({ random, ranks }: Choice, count: number): { brandID: string[] } {
  const chosen = new Set<string>();
  while (chosen.size < count) chosen.add(brandID(skewedRank(random, ranks)));
  return { brandID: [...chosen] };
}

/** From a tenth to half of all prices. */
function prices({ random }: Choice): { priceMin: string; priceMax: string } {
  const width = HIGHEST_PRICE * (0.1 + 0.4 * random());
  const minimum = (HIGHEST_PRICE - width) * random();
  return { priceMin: minimum.toFixed(2), priceMax: (minimum + width).toFixed(2) };
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
  mix(count: number): Question[] {
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
  draw(kind: StorefrontList, ranks = RANKS): Question {
    const choice = { random: this.random, rows: this.rows, ranks };
    const drawn = (): Question => ({ limit: PAGE, offset: 0, ...kind.draw(choice) });
    let question = drawn();
    for (let draws = 1; draws < DRAWS && this.asked.has(key(question)); draws += 1) {
      question = drawn();
    }
    return this.marked(question);
  }

  /** Takes back requests that were not sent. */
  takeBack(questions: readonly Question[]): void {
    for (const question of questions) this.asked.delete(key(question));
  }

  private nextPage(kind: StorefrontList): Question {
    const walks = this.walks.get(kind) ?? [];
    this.walks.set(kind, walks);
    const at = Math.floor(this.random() * WALKS);
    const last = walks[at];
    const goesOn = last && last.offset < (WALK_PAGES - 1) * PAGE;
    const question = goesOn ? this.marked(pageAfter(last)) : this.draw(kind);
    walks[at] = question;
    return question;
  }

  private marked(question: Question): Question {
    this.asked.add(key(question));
    return question;
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
