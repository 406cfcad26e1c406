import { Random } from '#server/testing/random.js';
import { ArticleKind, ArticlesModule, SHOWN } from './article.fixture.js';
import { insertion } from '#server/testing/load-rows.js';
import { type SharedService, startWith, withClients } from './migrated.js';
import {
  compares,
  equals,
  exists,
  hasItems,
  listed,
  literal,
  type PlainRequest,
  type PlainResource,
  randomList,
} from '#server/testing/oracle.js';

/** The clients of the articles: one sees all variants, the other its own and those of all. */
export const ARTICLE_CLIENTS = ['tester', 'other'] as const;

const KINDS = Object.values(ArticleKind);
const SIZES = ['S', 'M', 'L', 'none'];
const COLOURS = ['red', 'blue', 'a,b', 'green', 'none'];
const MAKERS = ['m0', 'm1', 'm2'];
const NAMES = Array.from({ length: 30 }, (_, at) => `name ${at}`);
const OWNERS = ['all', 'all', 'tester', 'other'];
/** For each article on average. */
const VARIANTS = 4;

const variants = (client: string): string =>
  `(SELECT * FROM test_variants WHERE ${client === 'tester' ? 'true' : `"ownerID" IN ('all', ${literal(client)})`})`;

const isOf = (sizes: string, client: string, more = ''): string =>
  `"articleID" IN (SELECT "articleID" FROM ${variants(client)} each WHERE size IN (${listed(sizes)}) ${more})`;

/** Half of the articles have one of two weights. */
const weight = (random: Random): string =>
  String(random.chance(0.5) ? random.pick([0, 250]) : random.below(1000));

const items = (random: Random): string =>
  equals(
    '',
    COLOURS.filter((each) => !each.includes(',')),
  ).sample(random);

/** The articles as plain SQL reads them. */
export const PLAIN_ARTICLES: PlainResource = {
  path: '/test_articles',
  table: 'test_articles',
  identifier: 'articleID',
  sorts: ['articleID', 'name', 'weight'],
  filters: {
    kind: equals('kind', KINDS),
    maker: equals('maker', MAKERS),
    makerExists: exists('maker'),
    name: equals('name', NAMES),
    colours: {
      columns: ['colours'],
      sample: items,
      keeps: (value) => `colours && ARRAY[${listed(value)}]`,
    },
    coloursAll: {
      columns: ['colours'],
      sample: items,
      keeps: (value) => `colours @> ARRAY[${listed(value)}]`,
    },
    coloursNot: {
      columns: ['colours'],
      sample: items,
      keeps: (value) => `(colours && ARRAY[${listed(value)}]) IS NOT TRUE`,
    },
    coloursExists: hasItems('colours'),
    years: {
      columns: ['years'],
      sample: (random) => String(2020 + random.below(4)),
      keeps: (value) => `years && ARRAY[${value}]`,
    },
    yearsNot: {
      columns: ['years'],
      sample: (random) => random.pick(['2020', '2021,2023']),
      keeps: (value) => `(years && ARRAY[${value}]) IS NOT TRUE`,
    },
    yearsExists: hasItems('years'),
    weightMin: compares('weight', '>=', weight),
    weightMax: compares('weight', '<=', weight),
    size: {
      columns: ['articleID'],
      sample: equals('', SIZES).sample,
      keeps: (value, client) => isOf(value, client),
    },
    sizeNot: {
      columns: ['articleID'],
      sample: equals('', SIZES).sample,
      keeps: (value, client) => `(${isOf(value, client)}) IS NOT TRUE`,
    },
    sizeInStock: {
      columns: ['articleID'],
      sample: equals('', SIZES).sample,
      keeps: (value, client) => isOf(value, client, 'AND "inStock"'),
    },
  },
  included: {
    test_variants: (client) => {
      const of = `FROM ${variants(client)} each WHERE each."articleID" = object."articleID"`;
      return `(SELECT count(*) ${of}) || ':' || array_to_string(ARRAY(
        SELECT "variantID" ${of} ORDER BY price DESC NULLS LAST, "variantID" DESC LIMIT ${SHOWN}
      ), '+')`;
    },
  },
  facets: {
    labels: {},
    tree: { column: '', nodes: () => '' },
    items: ['colours', 'years'],
    presence: {
      makerExists: ['maker', 'maker IS NOT NULL'],
      coloursExists: ['colours', 'coalesce(cardinality(colours), 0) > 0'],
      yearsExists: ['years', 'cardinality(years) > 0'],
    },
    ranges: {},
  },
};

/** The fields of their facet counts, in order. */
export const ARTICLE_FACETS = [
  'kind',
  'maker',
  'makerExists',
  'colours',
  'coloursExists',
  'years',
  'yearsExists',
];

/** A list at random, often with the variants of each article. */
export function randomArticles(random: Random): PlainRequest {
  const chosen = Object.keys(PLAIN_ARTICLES.filters).filter(() => random.chance(0.25));
  const list = randomList(random, PLAIN_ARTICLES, chosen);
  return random.chance(0.5) ? { ...list, include: 'test_variants' } : list;
}

/** Starts the service with a number of articles, and their variants. */
export async function startArticles(
  articles: number,
  environment: NodeJS.ProcessEnv = {},
): Promise<SharedService> {
  const service = await startWith(ArticlesModule, { environment });
  const random = new Random('articles');
  const { dataSource } = service;
  await dataSource.query(...insertedArticles(random, 0, articles));
  await dataSource.query(...insertedVariants(random, 0, VARIANTS * articles, articles));
  await dataSource.query('ANALYZE test_articles, test_variants');
  return withClients(service, ARTICLE_CLIENTS);
}

/** A statement that changes some of a number of articles or their variants, and its parameter values. */
export function articleChange(random: Random, articles: number): [sql: string, values?: unknown[]] {
  const from = random.below(articles);
  // The triggers count many rows in another way than few.
  const count = random.pick([1, 20, 20, 20, 1500]);
  // Mostly of one in a thousand or in a hundred: writers wait for each other where they change the same rows.
  const ending = random.below(articles / 4);
  const few = (key: string): string => `"${key}" LIKE '%${ending}'`;
  const owner = random.pick(OWNERS);
  return random.pick<() => [sql: string, values?: unknown[]]>([
    () => insertedArticles(random, from, count),
    () => insertedVariants(random, VARIANTS * from, count, articles),
    () => [
      `UPDATE test_variants SET size = '${random.pick(SIZES)}', "inStock" = NOT "inStock" WHERE ${few('variantID')}`,
    ],
    () => [
      `UPDATE test_variants SET price = ${random.pick(['NULL', random.below(40)])}, "ownerID" = '${owner}' WHERE ${few('variantID')}`,
    ],
    () => [
      `UPDATE test_variants SET "articleID" = (SELECT "articleID" FROM test_articles WHERE "articleID" = 'a${from}') WHERE ${few('variantID')}`,
    ],
    () => [
      `UPDATE test_articles SET colours = array_append(colours[:3], '${random.pick(['red', 'new'])}') WHERE ${few('articleID')}`,
    ],
    () => [
      `UPDATE test_articles SET colours = NULL, years = '{2020,2020}', kind = '${random.pick(KINDS)}' WHERE ${few('articleID')}`,
    ],
    // Without an item, with none that is counted by a value, and with one that is the empty text.
    () => [
      `UPDATE test_articles SET colours = ${random.pick(['NULL', `'{}'`, `'{NULL}'`, `'{""}'`])}, years = '{}'
       WHERE ${random.pick([few('articleID'), `weight % 5 = ${random.below(5)}`])}`,
    ],
    () => [`UPDATE test_articles SET weight = weight + 100 WHERE ${few('articleID')}`],
    () => [`UPDATE test_articles SET weight = ${weight(random)} WHERE weight % 7 = ${ending % 7}`],
    () => [`DELETE FROM test_variants WHERE ${few('variantID')}`],
    () => [`DELETE FROM test_articles WHERE ${few('articleID')}`],
  ])();
}

/** A statement that inserts those of a number of articles that are not there, and its parameter values. */
function insertedArticles(random: Random, from: number, count: number): [string, unknown[]] {
  const some = <T>(values: readonly T[]): T[] =>
    Array.from({ length: random.below(4) }, () => random.pick(values));
  const articles = Array.from({ length: count }, (_, at) => ({
    articleID: `a${from + at}`,
    name: random.pick(NAMES),
    kind: random.pick(['SHIRT', 'SHIRT', 'SHOE']),
    maker: random.pick([...MAKERS, null]),
    // The same item may be there twice.
    colours: random.chance(0.1) ? null : some(COLOURS.slice(0, 4)),
    years: some([2020, 2021, 2022, 2023]),
    weight: random.chance(0.1) ? null : weight(random),
  }));
  return insertion('test_articles', articles);
}

/** As `insertedArticles`, of variants: most are of the articles with the lowest numbers. */
function insertedVariants(
  random: Random,
  from: number,
  count: number,
  articles: number,
): [string, unknown[]] {
  const rows = Array.from({ length: count }, (_, at) => ({
    variantID: `v${from + at}`,
    articleID: random.chance(0.02) ? null : `a${Math.floor(articles * random.number() ** 2)}`,
    size: random.pick(SIZES.slice(0, 3)),
    price: random.chance(0.2) ? null : String(random.below(40)),
    inStock: random.chance(0.5),
    ownerID: random.pick(OWNERS),
  }));
  // Others may have deleted the article.
  const isThere = `("articleID" IN (SELECT "articleID" FROM test_articles)) IS NOT FALSE`;
  return insertion('test_variants', rows, isThere);
}
