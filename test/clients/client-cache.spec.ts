import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Pool, QueryResult } from 'pg';
import { ClientsService } from '#server/clients/clients.service.js';
import { ClientCache, type KnownClient } from '#server/clients/client-cache.js';
import { primaryPool } from '#server/private-api/database.js';
import { rightsOf } from '#server/resource/visibility.js';
import { sharedService } from '../service.js';
import { until } from '../until.js';

const service = sharedService();
let cache: ClientCache;
let pool: Pool;

beforeAll(() => {
  cache = service.application.get(ClientCache);
  pool = primaryPool(service.dataSource);
});
afterEach(() => {
  jest.restoreAllMocks();
});

interface Question {
  readonly text: string;
  readonly values: readonly [clientIDs: readonly string[]];
}

/** Records the statements on clients from now on, and their numbers of rows. */
function watch(): { questions: Question[]; rows: Promise<number>[] } {
  const questions: Question[] = [];
  const rows: Promise<number>[] = [];
  const query = pool.query.bind(pool) as (question: Question) => Promise<QueryResult>;
  jest.spyOn(pool, 'query').mockImplementation(((question: Question) => {
    const result = query(question);
    if (/FROM .*clients/s.test(question.text)) {
      questions.push(question);
      rows.push(result.then(({ rowCount }) => rowCount ?? 0));
    }
    return result;
  }) as never);
  return { questions, rows };
}

/** The work of an unsuccessful lookup: statements, their rows, and compared tokens. */
async function workFor(clientID: string): Promise<unknown> {
  const { questions, rows } = watch();
  const compared: number[] = [];
  const found = await cache.find<KnownClient>(clientID, ({ tokens }) => {
    compared.push(tokens.filter(({ hash }) => hash.length === 32).length);
    return undefined;
  });
  expect(found).toBeUndefined();
  jest.restoreAllMocks();
  const asked = questions.map(({ text, values }) => [text, values[0].length]);
  return { asked, rows: await Promise.all(rows), compared };
}

describe('A login that is refused', () => {
  it('is the same work for an unknown client and for a wrong token, the first time and again', async () => {
    const unknown = await workFor('nobody');
    expect(unknown).toEqual({
      asked: [[expect.stringContaining('access_tokens'), 1]],
      rows: [1],
      compared: [1, 1],
    });
    expect(await workFor(service.clientID)).toEqual(unknown);
    expect(await workFor(service.clientID)).toEqual(unknown);
    expect(await workFor('nobody')).toEqual(unknown);
  });

  it.each(['tester', 'nobody'])('takes longer than the database: %s', async (clientID) => {
    const began = performance.now();
    await cache.find(clientID, () => undefined);
    // Timers have a resolution of one millisecond.
    expect(performance.now() - began).toBeGreaterThan(8.5);
  });
});

describe('Logins at the same time', () => {
  const clientIDs = Array.from({ length: 100 }, (_, at) => `unknown "${at}", \\`);
  const anyone = (client: KnownClient) => (client.clientID === '' ? undefined : client);

  it('ask the database together, and each gets its client', async () => {
    const clients = service.application.get(ClientsService);
    await clients.create('first', { rateLimit: 7 });
    await clients.create('second', {});
    await clients.issue('second', null);
    await clients.issue('second', null);
    const { questions } = watch();
    const found = await Promise.all(
      ['first', ...clientIDs, 'second'].map((clientID) => cache.find(clientID, anyone)),
    );
    expect(questions).toHaveLength(1);
    const first = { clientID: 'first', disabled: false, rateLimit: 7, tokens: [] };
    expect(found[0]).toEqual({ ...first, rights: rightsOf(undefined) });
    expect(found.at(-1)).toMatchObject({ clientID: 'second', disabled: false, rateLimit: null });
    expect(found.at(-1)?.tokens).toHaveLength(2);
    expect(found.filter(Boolean)).toHaveLength(2);
  });

  it('do not wait long for a statement that hangs, whose answer then changes nothing', async () => {
    const clients = service.application.get(ClientsService);
    await clients.create('late', {});
    const query = pool.query.bind(pool) as (question: unknown) => Promise<QueryResult>;
    let isRead = false;
    jest.spyOn(pool, 'query').mockImplementationOnce((async (question: unknown) => {
      const result = await query(question);
      isRead = true;
      await query('SELECT pg_sleep(1)');
      return result;
    }) as never);
    const slow = cache.find('late', anyone);
    await until(() => isRead);
    await clients.issue('late', null);
    const began = performance.now();
    const withToken = (client: KnownClient) =>
      client.tokens.length === 1 ? anyone(client) : undefined;
    expect(await cache.find('late', withToken)).toMatchObject({ clientID: 'late' });
    expect(performance.now() - began).toBeLessThan(900);
    expect(await slow).toMatchObject({ tokens: [] });
    const { questions } = watch();
    expect((await cache.find('late', anyone))?.tokens).toHaveLength(1);
    expect(questions).toEqual([]);
  });
});
