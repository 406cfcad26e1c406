import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createHash } from 'node:crypto';
import { get as httpGet } from 'node:http';
import { ClientsService } from '#server/clients/clients.service.js';
import { refusal, sharedService } from '../service.js';
import { until } from '../until.js';

const service = sharedService();
let clients: ClientsService;

beforeAll(() => {
  clients = service.application.get(ClientsService);
});

const ask = (clientID: string, token: string) =>
  service.anonymous().get(`/brands?clientID=${clientID}&access_token=${token}`);

describe('Credentials', () => {
  it('are good in the query, in headers, and one here and one there', async () => {
    const { clientID, token } = service;
    await ask(clientID, token).expect(200);
    await service.get('/brands').expect(200);
    await service
      .anonymous()
      .get(`/brands?clientID=${clientID}`)
      .set('Authorization', `bearer ${token}`)
      .expect(200);
    await service
      .anonymous()
      .get(`/brands?access_token=${token}`)
      .set('X-Client-ID', clientID)
      .set('Authorization', 'Basic Zm9vOmJhcg==')
      .expect(200);
  });

  it('are missed by name, clientID first', async () => {
    const { clientID, token } = service;
    const missing = (name: string) => refusal(-10, `The parameter ${name} is required`);
    const anonymous = service.anonymous();
    await anonymous.get('/brands').expect(401, missing('clientID'));
    await anonymous.get('/brands?clientID=&access_token=').expect(401, missing('clientID'));
    await anonymous.get(`/brands?access_token=${token}`).expect(401, missing('clientID'));
    await anonymous.get(`/brands?clientID=${clientID}`).expect(401, missing('access_token'));
    await anonymous
      .get('/brands')
      .expect(401)
      .expect('WWW-Authenticate', 'Bearer realm="catalogue"');
  });

  it('may not stand in two places', async () => {
    const { clientID, token } = service;
    await service
      .get(`/brands?clientID=${clientID}`)
      .expect(400, refusal(-14, 'The parameter clientID must be given only once'));
    await service
      .get(`/brands?access_token=${token}`)
      .expect(400, refusal(-14, 'The parameter access_token must be given only once'));
    const headers = { 'X-Client-ID': [clientID, clientID], Authorization: `Bearer ${token}` };
    const twice = await new Promise<number | undefined>((resolve) =>
      httpGet({ port: service.port, path: '/brands', headers }, (response) => {
        resolve(response.resume().statusCode);
      }),
    );
    expect(twice).toBe(400);
  });

  it('are refused alike for an unknown client and for a wrong token', async () => {
    const { clientID, token } = service;
    const { token: others } = await service.newClient('other');
    for (const [id, value] of [
      [clientID, 'wrong'],
      [clientID, others],
      [clientID, token.toUpperCase()],
      [clientID, `${token}x`],
      ['unknown', token],
      [clientID.toUpperCase(), token],
      ['%00', token],
      ['%FF', token],
      ['x'.repeat(200), token],
      [clientID, '%00'],
      [clientID, '%FF'],
    ] as const) {
      await ask(id, value).expect(401, refusal(-11, 'The credentials are not valid'));
    }
  });

  it('are several for one client, and a new one is good at once', async () => {
    const { clientID } = service;
    await ask(clientID, service.token).expect(200);
    const { token } = await clients.issue(clientID, null);
    await ask(clientID, token).expect(200);
    await ask(clientID, service.token).expect(200);
  });

  it('expire', async () => {
    const { token, expiresAt } = await clients.issue(service.clientID, 1000);
    await ask(service.clientID, token).expect(200);
    await until(() => Date.now() >= Number(expiresAt));
    await ask(service.clientID, token).expect(401, refusal(-12, 'The access token has expired'));
  });

  it('expire at any time that PostgreSQL has, and are listed with it', async () => {
    const clientID = 'of-any-time';
    await clients.create(clientID, {});
    const times: [time: string | null, listed: string | null, status: number][] = [
      [null, null, 200],
      ['infinity', 'infinity', 200],
      ['294276-12-31T23:59:59.999Z', '294276-12-31T23:59:59.999', 200],
      ['-infinity', '-infinity', 401],
      ['0044-03-15 00:00:00+00 BC', '0044-03-15T00:00:00 BC', 401],
      ['2026-01-02T03:04:05.006+02', '2026-01-02T01:04:05.006Z', 401],
    ];
    const issued = [];
    for (const [time] of times) {
      const { token, tokenID } = await clients.issue(clientID, null);
      await service.dataSource.query(
        `UPDATE access_tokens SET "expiresAt" = $1::timestamptz, "createdAt" = 'infinity' WHERE "tokenID" = $2`,
        [time, tokenID],
      );
      issued.push({ token, tokenID });
    }
    const listed = await clients.listTokens(clientID);
    for (const [at, [, expiresAt, status]] of times.entries()) {
      const { token = '', tokenID } = issued[at] ?? {};
      expect(listed).toContainEqual({ tokenID, createdAt: 'infinity', expiresAt });
      const body: object = status === 200 ? {} : refusal(-12, 'The access token has expired');
      expect(await ask(clientID, token)).toMatchObject({ status, body });
    }
  });

  it('are stored as a SHA-256 hash alone', async () => {
    const { token, tokenID } = await clients.issue(service.clientID, null);
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    const [row] = await service.dataSource.query<Record<string, unknown>[]>(
      'SELECT * FROM access_tokens WHERE "tokenID" = $1',
      [tokenID],
    );
    expect(row?.hash).toEqual(createHash('sha256').update(token).digest());
    expect(JSON.stringify(row)).not.toContain(token);
  });

  it('are in no link, also if the token is sent as another parameter', async () => {
    const { clientID, token } = service;
    await service.load('products', [
      { productID: 'first', type: 'DIGITAL' },
      { productID: 'second', type: 'DIGITAL' },
    ]);
    const linkOf = async (query: string) => {
      const path = `/products?clientID=${clientID}&access_token=${token}&limit=1${query}`;
      return (await service.anonymous().get(path).expect(200)).get('Link');
    };
    expect(await linkOf('&brandIDNot=other')).toContain('brandIDNot=other');
    expect(await linkOf(`&brandIDNot=${token}`)).toBeUndefined();
  });

  it('cost a client that keeps asking no query', async () => {
    await ask(service.clientID, service.token).expect(200);
    const query = jest.spyOn(service.dataSource, 'query');
    for (let at = 0; at < 20; at += 1) await ask(service.clientID, service.token).expect(200);
    expect(query.mock.calls.filter(([sql]) => sql.includes('access_tokens'))).toEqual([]);
    query.mockRestore();
  });
});

describe('Within ten seconds', () => {
  it('a revoked token, a disabled client and a changed request limit take effect, while they keep asking', async () => {
    await clients.create('leaving', {});
    await clients.create('barred', {});
    await clients.create('limited', { rateLimit: 100_000 });
    const leaving = await clients.issue('leaving', null);
    const barred = await clients.issue('barred', null);
    const limited = await clients.issue('limited', null);
    const limit = async () => (await ask('limited', limited.token)).get('X-RateLimit-Limit');
    expect(await limit()).toBe('100000');
    await ask('leaving', leaving.token).expect(200);
    await ask('barred', barred.token).expect(200);
    await clients.revoke(leaving.tokenID);
    await clients.update('barred', { disabled: true });
    await clients.update('limited', { rateLimit: 200_000 });
    const statuses = new Set<string>();
    await until(async () => {
      const one = await ask('leaving', leaving.token);
      const other = await ask('barred', barred.token);
      statuses.add(`${one.body.result.errcode} ${other.body.result.errcode}`);
      return statuses.has('-11 -13') && (await limit()) === '200000';
    }, 10_000);
    await ask('leaving', leaving.token).expect(401, refusal(-11, 'The credentials are not valid'));
    await ask('barred', barred.token).expect(403, refusal(-13, 'The client is disabled'));
    expect([...statuses]).toContain('-11 -13');
    await clients.update('barred', { disabled: false });
    await until(async () => (await ask('barred', barred.token)).status === 200, 10_000);
    await ask('barred', barred.token).expect(200);
  });
});
