import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { sentStatements } from '../sent-statements.js';
import { primaryPool } from '#server/private-api/database.js';
import { refusal, sharedService, startService } from '../service.js';

const service = sharedService();

beforeAll(async () => {
  await service.load('brands', [
    { brandID: 'a', name: 'Ä' },
    { brandID: 'b', name: 'B' },
  ]);
});

const query = (sql: string) => service.dataSource.query<unknown[]>(sql);

async function tagOf(path: string): Promise<string> {
  const { headers } = await service.get(path).expect(200);
  return headers.etag ?? '';
}

/** The statements that `work` sends to the database, except those for credentials. */
async function statements(work: () => Promise<unknown>): Promise<string[]> {
  const pool = primaryPool(service.dataSource);
  const spy = jest.spyOn(pool, 'query');
  await work();
  const texts = sentStatements(spy).map(({ text }) => text);
  spy.mockRestore();
  return texts;
}

describe('A list', () => {
  it('is answered 304, with its headers and nothing else, as long as nothing was written', async () => {
    const etag = await tagOf('/brands?limit=1');
    expect(etag).toMatch(/^W\/"[^"]+"$/);
    const response = await service.get('/brands?limit=1').set('If-None-Match', etag).expect(304);
    expect(response.text).toBe('');
    expect(response.headers).toMatchObject({
      etag,
      'cache-control': 'private, no-cache',
      vary: 'Accept, Authorization, Accept-Encoding',
      'x-request-id': expect.any(String),
    });
    expect(response.headers['content-type']).toBeUndefined();
  });

  it('costs one lookup of the version where it is answered 304', async () => {
    for (const path of ['/brands?limit=2', '/brands?sort=name&limit=2', '/brands?name=B']) {
      const etag = await tagOf(path);
      const texts = await statements(() =>
        service.get(path).set('If-None-Match', etag).expect(304),
      );
      expect(texts).toEqual([expect.stringMatching(/^SELECT \(SELECT resource_version\(/)]);
    }
  });

  it('has a different tag for each query', async () => {
    const paths = [
      '',
      '?limit=1',
      '?offset=1',
      '?fields=name',
      '?sort=name',
      '?sort=-name',
      '?name=B',
    ];
    const tags = await Promise.all(paths.map((path) => tagOf(`/brands${path}`)));
    expect(new Set(tags).size).toBe(paths.length);
  });

  it.each([
    ['insert', `INSERT INTO brands ("brandID", name) VALUES ('c', 'C')`],
    ['update', `UPDATE brands SET name = 'CC' WHERE "brandID" = 'c'`],
    ['delete', `DELETE FROM brands WHERE "brandID" = 'c'`],
  ])('has another tag after an %s', async (_, statement) => {
    const etag = await tagOf('/brands');
    await query(statement);
    const { headers } = await service.get('/brands').set('If-None-Match', etag).expect(200);
    expect(headers.etag).not.toBe(etag);
  });

  it('keeps its tag when nothing was changed, or something else, or in the end nothing', async () => {
    const etag = await tagOf('/brands');
    await query(`UPDATE brands SET name = 'none' WHERE "brandID" = 'none'`);
    await query(`INSERT INTO categories ("categoryID", name) VALUES ('c', 'C')`);
    await service.dataSource
      .transaction(async (manager) => {
        await manager.query(`DELETE FROM brands`);
        throw new Error('back');
      })
      .catch(() => undefined);
    await service.get('/brands').set('If-None-Match', etag).expect(304);
  });

  it('gets the same errors with If-None-Match', async () => {
    const etag = await tagOf('/brands');
    await service
      .get('/brands?nonsense=1')
      .set('If-None-Match', '*')
      .expect(400, refusal(-23, 'The parameter nonsense must not be present in this request'));
    await service
      .get('/brands?limit=x')
      .set('If-None-Match', '*')
      .expect(400, refusal(-22, 'The parameter limit must be a plain decimal integer'));
    const stranger = await service
      .anonymous()
      .get('/brands')
      .set('If-None-Match', etag)
      .expect(401);
    expect(stranger.headers.etag).toBeUndefined();
  });
});

describe.each(['/brands', '/brands/a'])('The tag of %s', (path) => {
  it.each<[string, (etag: string) => string]>([
    ['among others', (etag) => `"x", ${etag}, W/"y"`],
    ['compared weakly', (etag) => etag.replace('W/', '')],
    ['or anything at all', () => '*'],
  ])('is found %s, also beside Cache-Control', async (_, sent) => {
    const etag = sent(await tagOf(path));
    for (const control of [{}, { 'Cache-Control': 'no-cache' }, { 'Cache-Control': 'max-age=0' }]) {
      await service.get(path).set('If-None-Match', etag).set(control).expect(304);
    }
    await service.get(path).set('If-None-Match', '"x"').expect(200);
  });

  it('is that of HEAD', async () => {
    await service
      .anonymous()
      .head(path)
      .set(service.headers)
      .set('If-None-Match', await tagOf(path))
      .expect(304);
  });
});

describe('A single object', () => {
  it('is answered 304, with its headers and nothing else, as long as it is the same', async () => {
    const etag = await tagOf('/brands/a');
    expect(etag).toMatch(/^W\/"[\w-]{43}"$/);
    await query(`INSERT INTO brands ("brandID", name) VALUES ('other', 'O')`);
    await query(`DELETE FROM brands WHERE "brandID" = 'other'`);
    const response = await service.get('/brands/a').set('If-None-Match', etag).expect(304);
    expect(response.text).toBe('');
    expect(response.headers).toMatchObject({ etag, 'cache-control': 'private, no-cache' });
    expect(response.headers['content-type']).toBeUndefined();
  });

  it('has another tag after each change, and the old one when it is as it was', async () => {
    const row = `FROM brands WHERE "brandID" = 'a'`;
    const [{ updatedAt }] = (await query(`SELECT "updatedAt"::text ${row}`)) as [
      { updatedAt: string },
    ];
    const etag = await tagOf('/brands/a');
    await query(`UPDATE brands SET name = 'B' WHERE "brandID" = 'a'`);
    const { headers } = await service.get('/brands/a').set('If-None-Match', etag).expect(200);
    expect(headers.etag).not.toBe(etag);
    await service.dataSource.transaction(async (manager) => {
      await manager.query('SET LOCAL session_replication_role = replica');
      await manager.query(`UPDATE brands SET name = 'Ä', "updatedAt" = $1 WHERE "brandID" = 'a'`, [
        updatedAt,
      ]);
    });
    expect(await tagOf('/brands/a')).toBe(etag);
  });

  it('has a tag for each selection of fields, which other fields do not change', async () => {
    const paths = ['', '?fields=name', '?fields=brandID,name'].map((part) => `/brands/a${part}`);
    const tags = await Promise.all(paths.map(tagOf));
    expect(new Set(tags).size).toBe(3);
    await query(
      `UPDATE brands SET "createdAt" = "createdAt" - interval '1 s' WHERE "brandID" = 'a'`,
    );
    const again = await Promise.all(paths.map(tagOf));
    expect(again.map((tag, at) => tag === tags[at])).toEqual([false, true, true]);
  });

  it('gets the same errors with If-None-Match, without a tag', async () => {
    const gone = await service
      .get('/brands/none')
      .set('If-None-Match', '*')
      .expect(404, refusal(-31, 'There is no brands object none'));
    expect(gone.headers.etag).toBeUndefined();
  });
});

describe('A page that was just served', () => {
  it('is not read again', async () => {
    const first = await service.get('/brands?limit=2&offset=0').expect(200);
    const texts = await statements(async () => {
      const again = await service.get('/brands?limit=2&offset=0').expect(200);
      expect(again.text).toBe(first.text);
      expect(again.headers.etag).toBe(first.headers.etag);
    });
    expect(texts).toEqual([expect.stringContaining('resource_version(')]);
  });

  it('is never served once a write has been acknowledged', async () => {
    const goesOn = { reading: true };
    const reader = async () => {
      while (goesOn.reading) await service.get('/brands?name=B');
    };
    const readers = [reader(), reader(), reader()];
    for (let round = 0; round < 150; round += 1) {
      await query(
        `UPDATE brands SET "createdAt" = '2001-01-01T00:00:00Z'::timestamptz + interval '${round} seconds'`,
      );
      const { body } = await service.get('/brands?name=B');
      const seconds = new Date(body.response_data.objects[0].createdAt as string).getTime() / 1000;
      expect(seconds).toBe(Date.UTC(2001, 0, 1) / 1000 + round);
    }
    goesOn.reading = false;
    await Promise.all(readers);
  });

  it('is not served by a version lookup that began before the request', async () => {
    const pool = primaryPool(service.dataSource);
    const send = pool.query.bind(pool) as unknown as (query: unknown) => Promise<unknown>;
    await service.get('/brands?offset=1').expect(200);
    const moments = new EventEmitter();
    const asked = once(moments, 'asked');
    const written = once(moments, 'written');
    // The database answers the first lookup before the write; the service receives it afterwards.
    const answerLate: unknown = async (query: unknown) => {
      const result = await send(query);
      moments.emit('asked');
      await written;
      return result;
    };
    const spy = jest.spyOn(pool, 'query').mockImplementationOnce(answerLate as () => void);
    const early = service.get('/brands?offset=1').then(({ body }) => body.response_data.count);
    await asked;
    await query(`INSERT INTO brands ("brandID", name) VALUES ('late', 'L')`);
    const late = service.get('/brands?offset=1').then(({ body }) => body.response_data.count);
    // The later request arrives in this time; nothing shows whether it waits.
    setTimeout(() => moments.emit('written'), 50);
    expect(Number(await late) - Number(await early)).toBe(1);
    spy.mockRestore();
  });

  it('is read again where nothing is kept', async () => {
    const without = await startService({ PAGE_CACHE_MB: '0' });
    const pool = primaryPool(without.dataSource);
    await without.get('/brands').expect(200);
    const spy = jest.spyOn(pool, 'query');
    await without.get('/brands').expect(200);
    expect(sentStatements(spy).map(({ text }) => text)).toEqual([
      expect.stringContaining('brands_tally'),
    ]);
    await without.stop();
  });
});
