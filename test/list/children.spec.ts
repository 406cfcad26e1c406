import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { ClientsService } from '../../src/clients/clients.service.js';
import { having, ListQueryDto, QueryOf } from '../../src/list/index.js';
import { type Children, children } from '../../src/resource/children.js';
import { resourcesOf } from '../../src/resource/resource.js';
import { TallyMaintenance } from '../../src/tally/maintain.js';
import { miscounts } from '../../src/verify/miscounts.js';
import { missingIndexes } from '../../src/verify/missing-indexes.js';
import { Random } from '../random.js';
import type { Service } from '../service.js';
import { until } from '../until.js';
import { Article, ArticlesModule, SHOWN, Variant } from './article.fixture.js';
import { startWith } from './migrated.js';
import {
  compareFacets,
  comparePage,
  equals,
  listed,
  literal,
  plainPage,
  type PlainPage,
  type PlainRequest,
  type PlainResource,
  randomList,
  without,
} from './oracle.js';

const ARTICLES = 400;
/** Lists at random; set RANDOM_LISTS for more. */
const LISTS = Number(process.env.RANDOM_LISTS ?? 80);
const CLIENTS = ['tester', 'other'] as const;
const SIZES = ['S', 'M', 'L', 'none'];
const COLOURS = ['red', 'blue', 'a,b', 'green', 'none'];
const MAKERS = ['m0', 'm1', 'm2'];

const variants = (client: string): string =>
  `(SELECT * FROM test_variants WHERE ${client === 'tester' ? 'true' : `"ownerID" IN ('all', ${literal(client)})`})`;

const isOf = (sizes: string, client: string, more = ''): string =>
  `"articleID" IN (SELECT "articleID" FROM ${variants(client)} each WHERE size IN (${listed(sizes)}) ${more})`;

const items = (random: Random): string =>
  equals(
    '',
    COLOURS.filter((each) => !each.includes(',')),
  ).sample(random);

const PLAIN: PlainResource = {
  path: '/test_articles',
  table: 'test_articles',
  identifier: 'articleID',
  sorts: ['articleID', 'name'],
  filters: {
    kind: equals('kind', ['SHIRT', 'SHOE']),
    maker: equals('maker', MAKERS),
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
    years: {
      columns: ['years'],
      sample: (random) => String(2020 + random.below(4)),
      keeps: (value) => `years && ARRAY[${value}]`,
    },
    size: {
      columns: ['articleID'],
      sample: equals('', SIZES).sample,
      keeps: (value, client) => isOf(value, client),
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
    ranges: {},
  },
};

const FACETS = ['kind', 'maker', 'colours', 'years'];

let service: Service;
const tokens = new Map<string, string>();

function randomArticle(random: Random, at: number): object {
  const some = <T>(values: readonly T[]): T[] =>
    Array.from({ length: random.below(4) }, () => random.pick(values));
  return {
    articleID: `a${at}`,
    name: `name ${random.below(30)}`,
    kind: random.pick(['SHIRT', 'SHIRT', 'SHOE']),
    maker: random.pick([...MAKERS, null]),
    // The same item may be there twice.
    colours: random.chance(0.1) ? null : some(COLOURS.slice(0, 4)),
    years: some([2020, 2021, 2022, 2023]),
  };
}

function randomVariant(random: Random, at: number): object {
  return {
    variantID: `v${at}`,
    articleID: random.chance(0.02) ? null : `a${Math.floor(ARTICLES * random.number() ** 2)}`,
    size: random.pick(SIZES.slice(0, 3)),
    price: random.chance(0.2) ? null : String(random.below(40)),
    inStock: random.chance(0.5),
    ownerID: random.pick(['all', 'all', 'tester', 'other']),
  };
}

function insert(table: string, rows: readonly object[]): Promise<unknown> {
  const columns = Object.keys(rows[0] ?? {})
    .map((name) => `"${name}"`)
    .join(', ');
  return service.dataSource.query(
    `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1)
     ON CONFLICT DO NOTHING`,
    [JSON.stringify(rows)],
  );
}

async function write(random: Random): Promise<void> {
  const { dataSource } = service;
  const few = (key: string): string => `"${key}" LIKE '%${random.below(10)}${random.below(10)}'`;
  for (const statement of [
    `UPDATE test_variants SET size = '${random.pick(SIZES)}', "inStock" = NOT "inStock" WHERE ${few('variantID')}`,
    `UPDATE test_variants SET "articleID" = (SELECT "articleID" FROM test_articles WHERE "articleID" = 'a${random.below(ARTICLES)}') WHERE ${few('variantID')}`,
    `UPDATE test_articles SET colours = array_append(colours, '${random.pick(['red', 'new'])}') WHERE ${few('articleID')}`,
    `UPDATE test_articles SET colours = NULL, years = '{2020,2020}', kind = 'SHOE' WHERE ${few('articleID')}`,
    `DELETE FROM test_variants WHERE ${few('variantID')}`,
    `DELETE FROM test_articles WHERE ${few('articleID')}`,
  ]) {
    if (random.chance(0.5)) await dataSource.query(statement);
  }
  const from = random.below(ARTICLES);
  await insert(
    'test_articles',
    Array.from({ length: 20 }, (_, at) => randomArticle(random, from + at)),
  );
}

function as(client: string): Pick<Service, 'get' | 'dataSource'> {
  const token = tokens.get(client) ?? '';
  const headers = { 'X-Client-ID': client, Authorization: `Bearer ${token}` };
  return { ...service, get: (path) => service.anonymous().get(path).set(headers) };
}

beforeAll(async () => {
  service = await startWith(ArticlesModule);
  const random = new Random('articles');
  await insert(
    'test_articles',
    Array.from({ length: ARTICLES }, (_, at) => randomArticle(random, at)),
  );
  await insert(
    'test_variants',
    Array.from({ length: 1500 }, (_, at) => randomVariant(random, at)),
  );
  await service.dataSource.query('ANALYZE test_articles, test_variants');
  const clients = service.application.get(ClientsService);
  for (const client of CLIENTS) {
    if (client !== service.clientID) await clients.create(client, {});
    tokens.set(client, (await clients.issue(client, null)).token);
  }
});
afterAll(() => service.stop());

it('Lists with children, and filters by them and by items, are as plain SQL has them', async () => {
  const random = new Random('lists of articles');
  const metadata = resourcesOf(service.dataSource).get('test_articles');
  if (!metadata) throw new Error('There are no articles');
  for (let at = 0; at < LISTS; at += 1) {
    const client = random.pick(CLIENTS);
    const chosen = Object.keys(PLAIN.filters).filter(() => random.chance(0.25));
    const list = randomList(random, PLAIN, chosen);
    const request: PlainRequest = random.chance(0.5) ? { ...list, include: 'test_variants' } : list;
    const limit = String(random.pick([0, 1, 7, 50]));
    const { count } = await comparePage(as(client), PLAIN, { ...request, limit }, client);
    const offset = String(random.below(Number(count) + 1));
    await comparePage(as(client), PLAIN, { ...request, limit, offset }, client);
    const counted = { ...without(list, 'sort', 'include'), limit: random.pick(['2', '1000']) };
    await compareFacets(as(client), PLAIN, FACETS, counted, { client });
    if (random.chance(0.3)) await write(random);
    if (at % 20 === 19) await until(() => new TallyMaintenance(service.dataSource, metadata).run());
  }
  expect(await miscounts(service.dataSource, metadata)).toEqual([]);
});

it('A whole list has the children of a page', async () => {
  const path = '/test_articles?include=test_variants&fields=articleID,test_variants.size&limit=30';
  const { body } = await service.get(path).expect(200);
  const { objects } = body.response_data as { objects: object[] };
  const whole = await service.get(path).set('Accept', 'application/x-ndjson').expect(200);
  const lines = whole.text.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual(objects);
  expect(Object.keys(objects[0] ?? {})).toEqual([
    'articleID',
    'test_variants',
    'test_variantsCount',
  ]);
  const csv = await service.get(path).set('Accept', 'text/csv').expect(200);
  expect(csv.text.split('\r\n', 1)).toEqual(['articleID,test_variants,test_variantsCount']);
});

it('A single object has its children', async () => {
  const [page] = await service.dataSource.query<PlainPage[]>(
    plainPage(PLAIN, { include: 'test_variants', limit: '1' }, 'tester'),
  );
  const [articleID = '', shown] = page?.objects[0]?.split(' ') ?? [];
  const { body } = await service
    .get(`/test_articles/${articleID}?include=test_variants`)
    .expect(200);
  const [{ test_variants: found, test_variantsCount: count }] = body.response_data.objects;
  const identifiers = (found as { variantID: string }[]).map(({ variantID }) => variantID);
  expect(`${count}:${identifiers.join('+')}`).toBe(shown);
});

describe('A page', () => {
  it.each(['include=test_variants', 'size=S', 'include=test_variants&sizeInStock=M'])(
    'with %s changes its entity tag with a child',
    async (query) => {
      const path = `/test_articles?${query}`;
      const random = new Random('children');
      let { headers } = await service.get(path).expect(200);
      for (let at = 0; at < 10; at += 1) {
        await service
          .get(path)
          .set('If-None-Match', headers.etag ?? '')
          .expect(304);
        await service.dataSource.query(
          `UPDATE test_variants SET price = price + 1 WHERE "variantID" = 'v${random.below(90)}'`,
        );
        const changed = await service.get(path).set('If-None-Match', headers.etag ?? '');
        // The variant may have been deleted before.
        expect([200, 304]).toContain(changed.status);
        if (changed.status === 200) ({ headers } = changed);
        await comparePage(
          as('tester'),
          PLAIN,
          Object.fromEntries(new URLSearchParams(query)),
          'tester',
        );
      }
    },
  );
});

it('Children need an index on what refers to their parent', async () => {
  const { application, dataSource } = service;
  const missing = async () =>
    (await missingIndexes(application)).filter((line) => line.includes('test_variants of'));
  expect(await missing()).toEqual([]);
  await dataSource.query('DROP INDEX "test_variants_by_articleID"');
  expect(await missing()).toEqual([
    'no index serves test_variants of test_articles, which need one on ("articleID", "variantID") of test_variants',
  ]);
  await dataSource.query(
    'CREATE INDEX "test_variants_by_articleID" ON test_variants ("articleID", "variantID")',
  );
});

describe('children', () => {
  const include =
    (entity: Type, ...all: Children[]) =>
    () => {
      @QueryOf(entity, { include: all })
      class ListDto extends ListQueryDto {}
      return ListDto;
    };

  it('are of an entity with one @ForeignKey to the listed one', () => {
    expect(include(Variant, children(Article))).toThrow(
      'Article needs exactly one @ForeignKey to Variant to be its children, and has 0',
    );
  });

  it('are declared in one way', () => {
    expect(include(Article, children(Variant, { limit: SHOWN }))).toThrow(
      'The children test_variants of Article are declared in two ways',
    );
  });

  it('that an object has must refer to it, and have values', () => {
    expect(() => having(Variant, {})).toThrow('having(Variant) needs a value of a column');
    const variants = service.dataSource.getMetadata(Variant);
    expect(() => having(Article, { name: 'x' }).make('variantID', variants)).toThrow(
      'Article has no @ForeignKey to Variant',
    );
  });

  it.each([0, 1.5, 1001, NaN])('are not at most %p', (limit) => {
    expect(() => children(Variant, { limit })).toThrow(RangeError);
  });
});
