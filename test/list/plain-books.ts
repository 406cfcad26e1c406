import type { Random } from '#server/testing/random.js';
import {
  compares,
  containsAll,
  differs,
  equals,
  exists,
  hasItems,
  listed,
  literal,
  type PlainFilter,
  type PlainRequest,
  type PlainResource,
} from '#server/testing/oracle.js';

/** Whole numbers below a bound, as texts that begin with a letter. */
function numbered(letter: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${letter}${at}`);
}

const KINDS = ['NOVEL', 'ATLAS', 'ERRATA'];
// More than half of the books are on the first shelf, and none on the last one.
const SHELVES = [...numbered('s', 13), ...['s0', 's0', 's0', 's0', 's0']];
const AUTHORS = numbered('a', 25);
const LANGUAGES = ['en', 'de', 'fr', 'xx'];
const NAMES = ['name 0', 'name 1', 'name 2'];
const TAGS = ['old', 'rare', 'torn', 'none'];

/** Often so near to an end that few books cost more, or less. */
const price = (random: Random): string =>
  (
    random.pick([random.below(420), random.below(420), random.below(9), 410 + random.below(9)]) / 4
  ).toFixed(2);
const pages = (random: Random): string =>
  String(random.pick([random.below(420), random.below(9), 395]));
const time = (random: Random): string =>
  new Date(Date.UTC(2026, 0, 1, random.below(4000))).toISOString();

const shelves = (client: string): string =>
  `(SELECT * FROM named.shelves WHERE ${client === 'tester' ? 'true' : `"ownerID" IN ('all', '${client}')`})`;

const isOnShelf = (names: string, client: string): string =>
  `"shelfID" IN (SELECT "shelfID" FROM ${shelves(client)} shelf WHERE name IN (${listed(names)}))`;

function filter(
  column: string,
  sample: PlainFilter['sample'],
  keeps: PlainFilter['keeps'],
): PlainFilter {
  return { columns: [column], sample, keeps };
}

/** Each is drawn in turn. */
const SEARCHES = [
  ...['lamp', 'b04123', 'lam*3', 'robust', 'lamp robust', 'lam*', 'LÁMP', 'rob* la*', '12'],
  ...[
    'lamp*3',
    'paper 5',
    '12* rob*',
    'b01*',
    'none',
    'ROBUST',
    'a lamp',
    '売上',
    '月の売',
    '月の売上 lamp',
    'の売*',
  ],
];
let searched = 0;

/** The filters of `booksModule` in SQL. */
const FILTERS: Readonly<Record<string, PlainFilter>> = {
  bookID: equals('bookID', ['b00007', 'b00500', 'b02001', 'b04999', 'nowhere']),
  kind: {
    ...equals('kind', KINDS),
    sample: (random) => random.pick([...KINDS, 'NOVEL,ATLAS', 'ATLAS,NOVEL', 'NOVEL,ERRATA']),
  },
  kindNot: differs('kind', KINDS),
  shelfID: equals('shelfID', SHELVES),
  shelfIDNot: differs('shelfID', SHELVES),
  shelfIDExists: exists('shelfID'),
  within: filter(
    'shelfID',
    equals('shelfID', SHELVES).sample,
    (value, client) => `"shelfID" IN (WITH RECURSIVE below AS (
      SELECT "shelfID" FROM ${shelves(client)} root WHERE "shelfID" IN (${listed(value)})
      UNION SELECT child."shelfID" FROM ${shelves(client)} child JOIN below ON child."parentID" = below."shelfID"
    ) TABLE below)`,
  ),
  shelfName: filter('shelfID', equals('name', [...NAMES, 'none']).sample, isOnShelf),
  authorID: equals('authorID', AUTHORS),
  authorIDNot: differs('authorID', AUTHORS),
  onLoan: compares('onLoan', '=', (random) => random.pick(['true', 'false'])),
  ownerID: equals('ownerID', ['a', 'reader', 'other']),
  priceMin: compares('price', '>=', price),
  priceMax: compares('price', '<=', price),
  priceAbove: compares('price', '>', price),
  priceBelow: compares('price', '<', price),
  priceExists: exists('price'),
  priceFrom: filter(
    'price',
    price,
    (value) => `price >= ${value} AND price < ${Number(value) + 10}`,
  ),
  pagesAround: filter('pages', pages, (value) => `pages BETWEEN ${value} - 20 AND ${value}`),
  pagesMin: compares('pages', '>=', pages),
  isUnpaged: filter('pages', exists('pages').sample, (value) => `(pages IS NULL) = ${value}`),
  language: equals('language', LANGUAGES),
  languageOther: compares('language', '<>', (random) => random.pick(LANGUAGES)),
  publishedSince: compares('publishedAt', '>=', time),
  publishedUntil: compares('publishedAt', '<', time),
  tags: filter('tags', equals('tags', TAGS).sample, (value) => `tags && ARRAY[${listed(value)}]`),
  everyTag: filter(
    'tags',
    equals('tags', TAGS).sample,
    (value) => `tags @> ARRAY[${listed(value)}]`,
  ),
  tagsNot: filter(
    'tags',
    equals('tags', TAGS).sample,
    (value) => `(tags && ARRAY[${listed(value)}]) IS NOT TRUE`,
  ),
  tagsExists: hasItems('tags'),
  either: {
    columns: ['authorID', 'language'],
    sample: (random) => random.pick([...AUTHORS, ...LANGUAGES]),
    keeps: (value) => `"authorID" = ${literal(value)} OR language = ${literal(value)}`,
  },
  shelfOr: {
    columns: ['shelfID', 'language', 'pages'],
    sample: (random) => random.pick([...NAMES, ...LANGUAGES]),
    keeps: (value, client) =>
      `${isOnShelf(value, client)} OR language = ${literal(value)} AND pages >= 200`,
  },
  oneOrOther: filter(
    'language',
    (random) => `${random.pick(LANGUAGES)},${random.pick(LANGUAGES)}`,
    (value) => `language IN (${listed(value)})`,
  ),
  titleLonger: filter(
    'title',
    (random) => String(4 + random.below(5)),
    (value) => `length(title) > ${value}`,
  ),
  titleBegins: filter(
    'title',
    (random) => `lamp ${random.below(5)}`,
    (value) => `starts_with(title, ${literal(value)})`,
  ),
  titleStarts: filter(
    'title',
    (random) =>
      random.pick(['l', 'lamp', `lamp ${random.below(5)}`, 'chair 39', 'L', '%', 'lam_', 'z']),
    (value) => `starts_with(title, ${literal(value)})`,
  ),
  doubled: filter('doubled', pages, (value) => `2 * pages = ${value}`),
  q: filter(
    'words',
    () => SEARCHES[searched++ % SEARCHES.length] ?? '',
    (value) =>
      `${containsAll(`concat_ws(' ', title, note)`, value)} OR "bookID" = ${literal(value)}`,
  ),
};

/** The filters of books for `randomList`: none, each by itself, and those that have ways of their own together. */
export const BOOK_FILTERS: readonly (readonly string[])[] = [
  ...Object.keys(FILTERS),
  ...['', 'q=b04123', 'q', 'q', 'kind', 'kind=NOVEL,ATLAS', 'kind=ERRATA', 'onLoan=true kind'],
  ...['priceMin priceMax', 'kind priceAbove', 'kind priceMax', 'kind publishedSince', 'q kind'],
  ...['shelfID=s0 priceMin=103', 'shelfID=s0 priceBelow=1', 'shelfID=s0 priceMin', 'q shelfID=s0'],
  ...['shelfID=s0 kind priceMax', 'shelfID kind', 'authorID kind', 'shelfID authorID'],
  ...['language=en,de', 'authorID=a0,a1', 'shelfIDNot=s0,s1', 'everyTag=old,rare'],
  ...[
    'titleStarts kind',
    'titleStarts=lamp shelfID',
    'authorID pagesMin',
    'shelfIDNot kind',
    'shelfIDExists kind',
    'priceExists kind',
  ],
  // Both restrict one column.
  ...['kind=NOVEL kindNot=NOVEL', 'kind=NOVEL,ATLAS kindNot=ATLAS'],
].map((names) => names.split(' ').filter(Boolean));

/** Some of them at random, often with others. */
export function bookFilters(random: Random): string[] {
  const count = random.pick([0, 0, 0, 1, 3]);
  const others = Array.from({ length: count }, () => random.pick(Object.keys(FILTERS)));
  return [...others, ...random.pick(BOOK_FILTERS)];
}

const nameOfShelf = (client: string): string =>
  `(SELECT name FROM ${shelves(client)} shelf WHERE shelf."shelfID" = value)`;

const TREE = {
  column: 'shelfID',
  nodes: (client: string): string => `WITH RECURSIVE nodes AS (
      SELECT "shelfID" AS value, "shelfID" AS node FROM ${shelves(client)} shelf
      UNION SELECT child."shelfID", node FROM nodes JOIN ${shelves(client)} child ON child."parentID" = nodes.value
    ) TABLE nodes`,
};

const RANGES = {
  price: (reference: string): string => `(${reference})::text`,
  publishedAt: (reference: string): string =>
    `to_char(${reference} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
};

/** The fields of facet counts, in order. */
export const FACETS = ['kind', 'shelfID', 'authorID', 'onLoan', 'ownerID'];
const ALL_FACETS = [
  'kind',
  'shelfID',
  'shelfIDExists',
  'authorID',
  'onLoan',
  'price',
  'publishedAt',
  'ownerID',
  'within',
];

/** What facet counts may be asked for beside filters, at random, with the fields that it means. */
export function randomFacets(random: Random): [fields: readonly string[], request: PlainRequest] {
  const bounds = (of: (random: Random) => string): string => {
    const all = Array.from({ length: random.pick([1, 2, 9, 50]) }, () => of(random));
    return [...new Set(all)].sort((one, other) => compareBounds(one, other)).join();
  };
  const field = random.pick([...FACETS, 'within']);
  const named = ALL_FACETS.filter(() => random.chance(0.4));
  return random.pick<[readonly string[], PlainRequest]>([
    [FACETS, {}],
    named.length > 0
      ? [named, { facets: named.join() }]
      : [ALL_FACETS, { facets: ALL_FACETS.join() }],
    [['price'], { facets: 'price', bounds: bounds(price) }],
    [['publishedAt'], { facets: 'publishedAt', bounds: bounds(time) }],
    [[field], { facets: field, facetStarts: random.pick(['a', 'n', 'Name 1', 's1', 'none']) }],
  ]);
}

function compareBounds(one: string, other: string): number {
  return one.includes('T') ? one.localeCompare(other) : Number(one) - Number(other);
}

/** The resource of a `booksModule`, as plain SQL reads it. */
export function plainBooks(resource: string, table = resource): PlainResource {
  return {
    path: `/${resource}`,
    table,
    identifier: 'bookID',
    sorts: ['bookID', 'title', 'price', 'publishedAt'],
    filters: FILTERS,
    seen: (client) => {
      if (client === 'tester') return 'true';
      const own = `"ownerID" = ${literal(client)}`;
      return client === 'reader' ? `${own} OR kind = 'ATLAS'` : own;
    },
    relevance: (words) => {
      // What the external resource searches is not derived: its notes are compared as they are.
      const isOwn = resource === 'test_books';
      const [note, text] = isOwn ? ['lower(note)', words.toLowerCase()] : ['note', words];
      return `CASE WHEN "bookID" = ${literal(words)} OR ${note} = ${literal(text)} THEN 1
        WHEN ${containsAll(`coalesce(title, '')`, words)} THEN 2 ELSE 3 END`;
    },
    included: {
      shelf: (client) =>
        `(SELECT name FROM ${shelves(client)} shelf WHERE shelf."shelfID" = object."shelfID")`,
    },
    facets: {
      labels: { shelfID: nameOfShelf, within: nameOfShelf },
      tree: TREE,
      presence: { shelfIDExists: ['shelfID', '"shelfID" IS NOT NULL'] },
      ranges: RANGES,
    },
  };
}

/** A book at random, its identifier by number. Many have values in common, or none. */
export function randomBook(random: Random, at: number): object {
  const orNull = <T>(probability: number, value: T): T | null =>
    random.chance(probability) ? null : value;
  const skewed = (bound: number): number => Math.floor(bound * random.number() ** 4);
  return {
    bookID: `b${String(at).padStart(5, '0')}`,
    kind: random.chance(0.01) ? 'ERRATA' : random.chance(0.85) ? 'NOVEL' : 'ATLAS',
    title: orNull(0.2, `${random.pick(['lamp', 'lamp', 'chair'])} ${random.below(40)}`),
    note: orNull(
      0.4,
      random.pick([
        ...['robust', 'paper 5', 'a lamp', 'see b04123', `robust ${random.below(40)}`],
        ...['今月の売上', '売上高 lamp', 'lamp 今月の売上高'],
      ]),
    ),
    shelfID: orNull(0.1, `s${skewed(12)}`),
    authorID: orNull(0.1, `a${random.below(random.pick([2, 25]))}`),
    onLoan: orNull(0.2, random.chance(0.3)),
    price: orNull(0.1, (random.below(420) / 4).toFixed(2)),
    pages: orNull(0.1, random.below(400)),
    language: orNull(0.1, random.pick(['en', 'en', 'de', 'fr'])),
    publishedAt: orNull(0.1, new Date(Date.UTC(2026, 0, 1, random.below(4000))).toISOString()),
    tags: orNull(
      0.2,
      TAGS.slice(0, 3).filter(() => random.chance(0.3)),
    ),
    details: orNull(0.1, {
      size: random.pick([{}, null, { height: random.pick([random.below(100), 1.5, '2', null]) }]),
      cover: random.pick(['hard', 'soft', 'Ä', null, 7]),
      signed: random.pick([true, false, null, 'true']),
    }),
    ownerID: random.pick(['a', 'a', 'reader', 'other', 'other']),
  };
}
