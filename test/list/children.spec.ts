import { describe, expect, it, jest } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { ForeignKey, PrimaryColumn, Column, VirtualColumn } from 'typeorm';
import { having, identifierColumn, ListQueryDto, QueryOf, Resource } from '@catalogue/server';
import { Snapshot } from '#server/database/read-pool.js';
import { type Children, children } from '#server/resource/relations.js';
import { resourcesOf } from '#server/resource/resource.js';
import { TallyMaintenance } from '#server/tally/maintain.js';
import { miscounts } from '#server/verify/object-checks.js';
import { callLists } from '#server/verify/called-lists.js';
import { missingIndexes } from '#server/verify/missing-indexes.js';
import { Random } from '#server/testing/random.js';
import type { Service } from '../service.js';
import { until } from '../until.js';
import { Article, SHOWN, Variant } from './article.fixture.js';
import { insertion } from '#server/testing/load-rows.js';
import {
  compareFacets,
  comparePage,
  plainPage,
  type PlainPage,
  type PlainRequest,
  without,
} from '#server/testing/oracle.js';
import {
  ARTICLE_CLIENTS,
  ARTICLE_FACETS,
  articleChange,
  PLAIN_ARTICLES,
  randomArticles,
  startArticles,
} from './plain-articles.js';
import { shared } from '#server/testing/shared.js';

const ARTICLES = 400;
/** Lists at random; set RANDOM_LISTS for more. */
const LISTS = Number(process.env.RANDOM_LISTS ?? 80);
/** Changes of children, each between two conditional requests; set ALTERNATIONS for more. */
const ALTERNATIONS = Number(process.env.ALTERNATIONS ?? 10);

const service = shared(() => startArticles(ARTICLES));

it('Lists with children, and filters by them and by items, are as plain SQL has them', async () => {
  const random = new Random('lists of articles');
  const metadata = resourcesOf(service.dataSource).get('test_articles');
  if (!metadata) throw new Error('There are no articles');
  for (let at = 0; at < LISTS; at += 1) {
    const client = random.pick(ARTICLE_CLIENTS);
    const request = randomArticles(random);
    const limit = String(random.pick([0, 1, 7, 50]));
    const as = service.as(client);
    const { count } = await comparePage(as, PLAIN_ARTICLES, { ...request, limit }, client);
    const offset = String(random.below(Number(count) + 1));
    await comparePage(as, PLAIN_ARTICLES, { ...request, limit, offset }, client);
    const counted = {
      ...without(request, 'sort', 'include'),
      facets: ARTICLE_FACETS.join(),
      limit: random.pick(['2', '1000']),
    };
    await compareFacets(as, PLAIN_ARTICLES, ARTICLE_FACETS, counted, { client });
    for (let left = random.pick([0, 0, 8]); left > 0; left -= 1) {
      await service.dataSource.query(...articleChange(random, ARTICLES));
    }
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
    plainPage(PLAIN_ARTICLES, { include: 'test_variants', limit: '1' }, 'tester'),
  );
  const [articleID = '', shown] = page?.objects[0]?.split(' ') ?? [];
  const { body } = await service
    .get(`/test_articles/${articleID}?include=test_variants`)
    .expect(200);
  const [{ test_variants: found, test_variantsCount: count }] = body.response_data.objects;
  const identifiers = (found as { variantID: string }[]).map(({ variantID }) => variantID);
  expect(`${count}:${identifiers.join('+')}`).toBe(shown);
});

describe.each(ARTICLE_CLIENTS)('A page of the client %s', (client) => {
  it.each<PlainRequest>([
    { include: 'test_variants' },
    { size: 'S' },
    { include: 'test_variants', sizeInStock: 'M' },
  ])('with %j changes its entity tag with a child, and is not an old one', async (request) => {
    const random = new Random('children');
    const as = service.as(client);
    const path = `${PLAIN_ARTICLES.path}?${new URLSearchParams(request).toString()}`;
    let etag = '"none"';
    const ifChanged: Pick<Service, 'get' | 'dataSource'> = {
      ...as,
      get: (asked) =>
        as
          .get(asked)
          .set('If-None-Match', etag)
          .expect(200)
          .expect(({ headers }) => {
            etag = headers.etag ?? '';
          }),
    };
    const compare = () => comparePage(ifChanged, PLAIN_ARTICLES, request, client);
    // Behind those of the page.
    const aside = { articleID: 'aside', name: 'aside', kind: 'SHOE', years: [] };
    await as.dataSource.query(...insertion('test_articles', [aside]));
    const move = 'UPDATE test_variants SET "articleID" = $2 WHERE "articleID" = $1';
    let { objects } = await compare();
    for (let at = 0; at < ALTERNATIONS; at += 2) {
      const withVariants = objects.filter((each) => !each.endsWith(' 0:'));
      const [articleID] = random.pick(withVariants).split(' ', 1);
      const ends = [articleID, aside.articleID];
      for (const fromTo of [ends, ends.toReversed()]) {
        await as.get(path).set('If-None-Match', etag).expect(304);
        await as.dataSource.query(move, fromTo);
        ({ objects } = await compare());
      }
    }
  });
});

it('The parents of very many children are counted by these', async () => {
  const { dataSource } = service;
  // Each client sees more of them than identifiers take the place of a query. Some have no parent, and many the same one.
  await dataSource.query(
    `INSERT INTO test_variants ("variantID", "articleID", size, "inStock", "ownerID")
     SELECT 'x' || i, (SELECT "articleID" FROM test_articles WHERE "articleID" = 'a' || i % 500), 'XL', i % 2 = 0,
       (ARRAY['all', 'all', 'tester'])[1 + i % 3] FROM generate_series(1, 32000) i`,
  );
  await dataSource.query('ANALYZE test_variants');
  const asked = jest.spyOn(Snapshot.prototype, 'objects');
  const isCounted = (): boolean => {
    const is = asked.mock.calls.some(([{ text }]) => text.includes('count(DISTINCT'));
    asked.mockClear();
    return is;
  };
  const lists: [PlainRequest, boolean][] = [
    [{ size: 'XL', offset: '90' }, true],
    [{ size: 'XL,S', sort: '-name' }, true],
    [{ size: 'XL', kind: 'SHOE' }, false],
    [{ size: 'XL', sizeInStock: 'XL' }, false],
    [{ sizeNot: 'XL' }, false],
  ];
  for (const client of ARTICLE_CLIENTS) {
    const as = service.as(client);
    for (const [request, expected] of lists) {
      const { count } = await comparePage(as, PLAIN_ARTICLES, request, client);
      expect({ request, isCounted: isCounted() }).toEqual({ request, isCounted: expected });
      const path = `/test_articles?${new URLSearchParams(request).toString()}`;
      const { headers } = await as.get(path).set('Accept', 'application/x-ndjson');
      expect({ request, count: headers['x-total-count'] }).toEqual({ request, count });
    }
  }
  asked.mockRestore();
  await dataSource.query(`DELETE FROM test_variants WHERE size = 'XL'`);
});

it('Children need an index on what refers to their parent', async () => {
  const { application, dataSource } = service;
  const missing = async () =>
    (await missingIndexes(await callLists(application), application)).filter((line) =>
      line.includes('test_variants of'),
    );
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

  it('have an order that an index has', () => {
    @Resource('test_computed')
    class Computed {
      @PrimaryColumn(identifierColumn) computedID!: string;
      @ForeignKey(() => Article) @Column(identifierColumn) articleID!: string;
      @VirtualColumn({ type: 'integer', query: () => '1' }) rank!: number;
    }
    expect(include(Article, children(Computed, { sort: '-rank' }))).toThrow(
      'Computed cannot be sorted by rank, which no index holds',
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
      'Article needs exactly one @ForeignKey to Variant to be its children, and has 0',
    );
    const articles = service.dataSource.getMetadata(Article);
    expect(() => having(Variant, { size: 'S' }).make('maker', articles)).toThrow(
      'having(Variant) is a condition on articleID, not on maker',
    );
  });

  it.each([0, 1.5, 101, NaN])('are not at most %p', (limit) => {
    expect(() => children(Variant, { limit })).toThrow(RangeError);
  });
});
