import { oneOf, type Random, seeded } from './random.js';

/** What the products of the benchmark are like. The same number of them is always the same. */

/** Of brands and of categories. */
export const RANKS = 500;
export const TYPES = ['PHYSICAL', 'DIGITAL', 'SERVICE'] as const;
/** The part of the products that each type has. */
export const SHARE = { PHYSICAL: 0.6, DIGITAL: 0.2, SERVICE: 0.2 } as const;
export const HIGHEST_PRICE = 1547;
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const FIRST_CREATED = Date.parse('2025-01-01T00:00:00Z');

export function productID(number: number): string {
  return numbered('p-', number, 8);
}

export function brandID(rank: number): string {
  return numbered('b', rank, 4);
}

/** The categories are trees of so many: each has the others of its fifty directly below it. */
export const TREE = 50;

export function categoryID(rank: number): string {
  return numbered('c', rank, 4);
}

/** Of all ranks the first has an eighth of the products, and the second half together a fifth. */
export function skewedRank(random: Random, ranks = RANKS): number {
  return Math.floor(ranks * random() ** 3);
}

/** The most frequent word, in 99 % of the products. */
export const COMMON = 'warm';
const VOCABULARY = vocabulary(2000);
/** Each in 8 to 24 % of the products. */
export const USUAL_WORDS = VOCABULARY.slice(2, 10) as [string, ...string[]];
/** Each in about 0.1 % of the products. */
export const RARE_WORDS = VOCABULARY.slice(1000) as [string, ...string[]];

function vocabulary(size: number): string[] {
  const syllables = [
    'ba ko ri tu me la so ni fe da',
    'lo ra mi te nu ka si do ve pa',
    'n r st l m ck d x t z',
    'a o',
  ].map((text) => text.split(' '));
  const words = Array.from({ length: size }, (_, at) =>
    syllables.map((of, place) => of[Math.floor(at / 10 ** place) % 10]).join(''),
  );
  words[0] = COMMON;
  words[5] = 'robust';
  return words;
}

function words(random: Random, count: number): string {
  return Array.from(
    { length: count },
    () => VOCABULARY[Math.floor(VOCABULARY.length * random() ** 7)],
  ).join(' ');
}

/** The first is in a quarter of the products, and the last in a fiftieth. */
export const COLOURS = 'black white grey blue red green beige pink gold'.split(' ') as [
  string,
  ...string[],
];
/** Variants of each product. */
export const VARIANTS = 3;
/** Each is the name of a ninth of the variants. */
export const SIZES = ['S', 'M', 'L'] as const;
/** Each other name is that of as many variants: one of so many in a million products. */
export const OTHER_NAMES = 10_000;

/** The columns of a line, in its order. */
export const COLUMNS =
  '"productID", "refID", type, name, description, "brandID", "categoryID", price, currency, stock, colours, "imageURL", "createdAt"';

/** So many products in random order, in the text format of COPY, in parts of about 64 kB. */
export function* productLines(rows: number): Generator<string> {
  const random = seeded(rows);
  let part = '';
  for (const number of shuffled(rows, random)) {
    part += `${line(number, random)}\n`;
    if (part.length < 65_536) continue;
    yield part;
    part = '';
  }
  yield part;
}

/** The same as a file to import, in CSV. */
export function* productFile(rows: number): Generator<string> {
  yield `${COLUMNS.replace(/[" ]/g, '')}\n`;
  // Only the colours have a comma.
  for (const part of productLines(rows)) {
    const cells = part.replaceAll('\\N', '').replaceAll('\t', ',');
    yield cells.replaceAll(/\{(.*?)\}/g, (_, colours: string) => {
      const json = JSON.stringify(colours.split(','));
      return `"${json.replaceAll('"', '""')}"`;
    });
  }
}

function line(number: number, random: Random): string {
  return [
    productID(number),
    `R-${number}`,
    oneOf(random, ['PHYSICAL', 'PHYSICAL', 'PHYSICAL', 'DIGITAL', 'SERVICE']),
    `${words(random, 3)} ${number % 1000}`,
    words(random, 9),
    brandID(skewedRank(random)),
    categoryID(skewedRank(random)),
    random() < 0.99 ? (random() * HIGHEST_PRICE).toFixed(2) : '\\N',
    'EUR',
    // A third of those that keep a stock have none.
    random() < 0.9 ? Math.max(0, Math.floor(random() * 60) - 19) : '\\N',
    colours(random),
    `https://example.org/images/${number}.jpg`,
    new Date(FIRST_CREATED + Math.floor(random() * YEAR_MS)).toISOString(),
  ].join('\t');
}

/** One or two, or none for a quarter of the products. */
function colours(random: Random): string {
  if (random() < 0.25) return '\\N';
  const colour = (): string => COLOURS[Math.floor(COLOURS.length * random() ** 2)] ?? '';
  return `{${[...new Set(random() < 0.5 ? [colour()] : [colour(), colour()])].join()}}`;
}

function shuffled(rows: number, random: Random): Uint32Array {
  const numbers = Uint32Array.from({ length: rows }, (_, at) => at);
  for (let at = rows - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [numbers[at], numbers[other]] = [numbers[other] ?? 0, numbers[at] ?? 0];
  }
  return numbers;
}

function numbered(prefix: string, number: number, digits: number): string {
  return prefix + String(number).padStart(digits, '0');
}
