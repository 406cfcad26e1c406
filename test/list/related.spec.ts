import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Brand } from '../../src/brands/brand.entity.js';
import { exported } from '../import/exported.js';
import { QueryOf, related } from '@catalogue/server';
import { callLists } from '#server/verify/called-lists.js';
import { missingIndexes } from '#server/verify/missing-indexes.js';
import { authorReads } from '#server/verify/author-reads.js';
import { Random } from '#server/testing/random.js';
import { sharedService } from '../service.js';
import { ListOffersDto, NamedOffer, OFFERS, OffersModule } from './offer.fixture.js';

/** Seconds of the runs beside writers. */
const DURATION = Number(process.env.RELATED_TEST_SECONDS ?? 3);
const WRITERS = 8;
const NAMES = ['Acme', 'Emca', 'Other', 'Fourth'];

const service = sharedService({}, OffersModule);
const query = (text: string) => service.dataSource.query<Record<string, string>[]>(text);

interface Body {
  response_data: { count: string; objects: Record<string, unknown>[] };
}

/** The count of a list, and the identifiers of its objects. */
async function offersOf(path: string): Promise<[string, unknown[]]> {
  const { body } = await service.get(path).expect(200);
  const { count, objects } = (body as Body).response_data;
  return [count, objects.map(({ offerID }) => offerID)];
}

beforeAll(async () => {
  await query(OFFERS);
});

beforeEach(async () => {
  await query('TRUNCATE brands CASCADE');
  await query(
    `INSERT INTO brands ("brandID", name) VALUES ('b1', 'Acme'), ('b2', 'Emca'), ('b3', 'Acme')`,
  );
  await query(`INSERT INTO test_offers VALUES
    ('a', 'b1', 'lamp', 1), ('b', 'b2', 'b1', 2), ('c', 'b3', 'lamp', 3), ('d', NULL, 'lamp', 4)`);
  await query('INSERT INTO test_named_offers SELECT "offerID", "brandID" FROM test_offers');
});

describe('A filter by related objects', () => {
  it('changes the version of its list with either resource', async () => {
    const path = '/test_offers?brandName=Acme';
    const { headers } = await service.get(path).expect(200);
    await service.get(path).set('If-None-Match', String(headers.etag)).expect(304);
    await query(`UPDATE brands SET name = 'Emca' WHERE "brandID" = 'b1'`);
    const { headers: after } = await service
      .get(path)
      .set('If-None-Match', String(headers.etag))
      .expect(200);
    expect(await offersOf(path)).toEqual(['1', ['c']]);
    await query(`UPDATE test_offers SET "brandID" = NULL WHERE "offerID" = 'c'`);
    await service.get(path).set('If-None-Match', String(after.etag)).expect(200);
    expect(await offersOf(path)).toEqual(['0', []]);
  });

  it('keeps the objects of more than 10,000 related ones', async () => {
    await query(`INSERT INTO brands ("brandID", name)
      SELECT 'x' || n, 'Many' FROM generate_series(1, 10050) n`);
    await query(`INSERT INTO test_offers VALUES ('e', 'x10050', 'e', 5), ('f', 'x1', 'f', 5)`);
    expect(await offersOf('/test_offers?brandName=Many')).toEqual(['2', ['e', 'f']]);
  });

  it('needs an index on the columns that it compares', async () => {
    const missing = async () =>
      (await missingIndexes(await callLists(service.application), service.application)).filter(
        (line) => line.includes('brandName of test_offers'),
      );
    expect(await missing()).toEqual([]);
    const indexes = await query(
      `SELECT indexrelid::regclass AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
       WHERE indrelid = 'brands'::regclass AND pg_get_indexdef(indexrelid) LIKE '%(name%'`,
    );
    for (const { name } of indexes) await query(`DROP INDEX ${name}`);
    expect(await missing()).toEqual([
      'no index serves the filter brandName of test_offers, which needs one on ("name") of brands',
    ]);
    for (const { definition } of indexes) await query(definition ?? '');
  });

  it('needs a resource, and a value', () => {
    expect(() => related(ListOffersDto, { either: 'b1' })).toThrow(
      'ListOffersDto is not a @Resource',
    );
    expect(() => related(Brand, {})).toThrow('related(Brand) needs a value of a column');
  });
});

describe('A filter by one of several conditions', () => {
  it('keeps the objects that meet one of them, each once', async () => {
    expect(await offersOf('/test_offers?either=b1')).toEqual(['2', ['a', 'b']]);
    expect(await offersOf('/test_offers?either=lamp&sort=-offerID')).toEqual([
      '3',
      ['d', 'c', 'a'],
    ]);
    expect(await offersOf('/test_offers?either=b1&brandName=Acme')).toEqual(['1', ['a']]);
    expect(await offersOf('/test_offers?either=none')).toEqual(['0', []]);
    expect(await offersOf('/test_offers?brandOrFirst=b2')).toEqual(['2', ['a', 'b']]);
  });

  it('has an entity tag, and a 304', async () => {
    const { headers } = await service.get('/test_offers?either=b1').expect(200);
    await service
      .get('/test_offers?either=b1')
      .set('If-None-Match', String(headers.etag))
      .expect(304);
  });

  it('is served by the indexes of its columns', async () => {
    const lines = await missingIndexes(await callLists(service.application), service.application);
    expect(lines.filter((line) => line.includes('either'))).toEqual([]);
  });
});

describe('A computed field', () => {
  it('is shown, selected and filtered by', async () => {
    const { body } = await service.get('/test_offers?offset=1&limit=1').expect(200);
    expect((body as Body).response_data.objects).toEqual([
      { offerID: 'b', brandID: 'b2', title: 'b1', amount: 2, doubled: 4 },
    ]);
    const selected = await service.get('/test_offers?fields=doubled&sort=-offerID').expect(200);
    expect((selected.body as Body).response_data.objects.map(({ doubled }) => doubled)).toEqual([
      8, 6, 4, 2,
    ]);
    expect(await offersOf('/test_offers?doubled=6')).toEqual(['1', ['c']]);
  });

  it('is shown in whole lists', async () => {
    const whole = async (type: string) =>
      (await service.get('/test_named_offers?limit=2').set('Accept', type).expect(200)).text;
    expect(await whole('application/x-ndjson')).toBe(
      '{"offerID":"a","brandID":"b1","brandName":"Acme"}\n{"offerID":"b","brandID":"b2","brandName":"Emca"}\n',
    );
    expect(await whole('text/csv')).toBe('offerID,brandID,brandName\r\na,b1,Acme\r\nb,b2,Emca\r\n');
  });

  it('is served by no index', async () => {
    expect(await missingIndexes(await callLists(service.application), service.application)).toEqual(
      [
        'no index can serve the filter doubled of test_offers, since doubled is computed for each object',
        'no index can serve the filter brandName of test_named_offers, since brandName is computed for each object',
      ],
    );
  });

  it('cannot be sorted by', () => {
    expect(() => QueryOf(NamedOffer, { sort: ['brandName'] })).toThrow(
      'NamedOffer cannot be sorted by brandName, which no index holds',
    );
  });

  it('is exported, and ignored by an import', async () => {
    const metadata = service.dataSource.getMetadata(NamedOffer);
    expect(await exported(service.dataSource, metadata, 'csv')).toContain(
      'offerID,brandID,brandName\na,b1,Acme\n',
    );
    await service.load('test_named_offers', [
      { offerID: 'z', brandID: 'b2', brandName: 'ignored' },
    ]);
    expect(await offersOf('/test_named_offers?brandName=Emca')).toEqual(['2', ['b', 'z']]);
  });

  it('of its own columns alone leaves its list versioned', async () => {
    const { headers } = await service.get('/test_offers').expect(200);
    await service.get('/test_offers').set('If-None-Match', String(headers.etag)).expect(304);
  });

  it('of another resource changes the version with it, where the list says that it reads it', async () => {
    const path = '/test_named_offers';
    const names = async () =>
      ((await service.get(path).expect(200)).body as Body).response_data.objects.map(
        ({ brandName }) => brandName,
      );
    expect(await names()).toEqual(['Acme', 'Emca', 'Acme', null]);
    const { headers } = await service.get(path).expect(200);
    await service.get(path).set('If-None-Match', String(headers.etag)).expect(304);
    await query(`UPDATE brands SET name = 'Other' WHERE "brandID" = 'b1'`);
    await service.get(path).set('If-None-Match', String(headers.etag)).expect(200);
    expect(await names()).toEqual(['Other', 'Emca', 'Acme', null]);
    expect(await offersOf(`${path}?brandName=Other`)).toEqual(['1', ['a']]);
  });

  it('of another resource leaves a list without a tag that does not say so, unless it is left out', async () => {
    const etag = async (parameters: string) =>
      (await service.get(`/test_silent_offers${parameters}`).expect(200)).headers.etag;
    expect(await etag('')).toBeUndefined();
    expect(await etag('?fields=offerID')).toMatch(/^W\//);
    expect(await authorReads(await callLists(service.application), service.application)).toEqual([
      'the field brandName of test_named_offers gives its lists no ETag, since it is SQL, and reads of @QueryOf of ListSilentOffersDto does not say what it reads',
    ]);
  });
});

describe('A filter by related objects and a field of them, under eight writers of both tables', () => {
  /** Writes to both tables until a time, with up to `pause` milliseconds between two transactions. */
  async function write(random: Random, until: number, pause = 100): Promise<void> {
    while (performance.now() < until) {
      const brand = `'b${1 + random.below(20)}'`;
      const offer = `'o${random.below(500)}'`;
      await query(
        random.pick([
          `UPDATE brands SET name = '${random.pick(NAMES)}' WHERE "brandID" = ${brand}`,
          `UPDATE test_offers SET "brandID" = ${brand} WHERE "offerID" = ${offer}`,
          `UPDATE test_named_offers SET "brandID" = ${brand} WHERE "offerID" = ${offer}`,
          `DELETE FROM test_offers WHERE "offerID" = ${offer}`,
          `INSERT INTO test_offers VALUES (${offer}, ${brand}, 't', 1) ON CONFLICT DO NOTHING`,
        ]),
      );
      await sleep(random.below(pause));
    }
  }

  beforeEach(async () => {
    await query('TRUNCATE brands CASCADE');
    await query(`INSERT INTO brands ("brandID", name)
      SELECT 'b' || n, 'Acme' FROM generate_series(1, 20) n`);
    await query(`INSERT INTO test_offers
      SELECT 'o' || n, 'b' || 1 + n % 20, 't', n FROM generate_series(0, 499) n`);
    await query('INSERT INTO test_named_offers SELECT "offerID", "brandID" FROM test_offers');
  });

  it(
    'are never older than what was committed before a conditional request',
    async () => {
      const until = performance.now() + DURATION * 1000;
      /** The last number in the name of a brand that is being written, and that is committed. */
      let [written, committed] = [1, 1];
      await query(`INSERT INTO brands ("brandID", name) VALUES ('counted', '1'), ('odd', 'odd')`);
      await query(`INSERT INTO test_offers VALUES ('counted', 'odd', 't', 1)`);
      await query(`INSERT INTO test_named_offers VALUES ('a', 'counted')`);
      const count = async (): Promise<void> => {
        while (performance.now() < until) {
          written += 1;
          await query(`UPDATE brands
            SET name = CASE "brandID" WHEN 'odd' THEN '${written % 2 ? 'odd' : 'even'}' ELSE '${written}' END
            WHERE "brandID" IN ('odd', 'counted')`);
          committed = written;
          await sleep(150);
        }
      };
      let [requests, unchanged] = [0, 0];
      /** Asks for a path, with the tag of the last response, and calls `check` with what it shows. */
      const ask = async (
        path: string,
        check: (shown: Body['response_data'], before: number, isStill: boolean) => void,
      ): Promise<void> => {
        let tag = '*none*';
        let shown: Body['response_data'] = { count: '', objects: [] };
        while (performance.now() < until) {
          const before = committed;
          const response = await service.get(path).set('If-None-Match', tag);
          if (response.status === 200) {
            tag = String(response.headers.etag);
            shown = (response.body as Body).response_data;
          } else {
            expect(response.status).toBe(304);
            unchanged += 1;
          }
          check(shown, before, written === before);
          requests += 1;
        }
      };
      const named = () =>
        ask('/test_named_offers?limit=1', ({ objects: [object] }, before) => {
          expect(Number(object?.brandName)).toBeGreaterThanOrEqual(before);
        });
      const filtered = () =>
        ask('/test_offers?brandName=odd&fields=offerID', ({ count: found }, before, isStill) => {
          if (isStill) expect(found).toBe(String(before % 2));
        });
      await Promise.all([
        count(),
        ...[named(), filtered(), named(), filtered()],
        ...Array.from({ length: WRITERS - 1 }, (_, at) =>
          write(new Random(`other ${at}`), until, 1000),
        ),
      ]);
      if (process.env.RELATED_TEST_SECONDS) console.info({ requests, unchanged, committed });
      expect(requests).toBeGreaterThan(0);
      expect(unchanged).toBeGreaterThan(0);
    },
    (DURATION + 30) * 1000,
  );
});
