import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Test } from 'supertest';
import { ClientsService } from '#server/clients/clients.service.js';
import { refusal, type Service, sharedService, startService } from '../service.js';
import { until } from '../until.js';

const INVALID = refusal(-11, 'The credentials are not valid');
const EXCEEDED = refusal(-40, 'The request limit of 3 per minute is exceeded');

const services: Service[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  for (const service of services.splice(0)) await service.stop();
});

async function start(environment: NodeJS.ProcessEnv): Promise<Service> {
  const service = await startService({ FAILED_LOGINS_PER_MINUTE: '3', ...environment });
  services.push(service);
  return service;
}

/** A request with the credentials of a client, from an address in `X-Forwarded-For`. */
function login(service: Service, clientID: string, token: string, address?: string): Test {
  const request = service
    .anonymous()
    .get('/brands?limit=0')
    .set('X-Client-ID', clientID)
    .set('Authorization', `Bearer ${token}`);
  return address === undefined ? request : request.set('X-Forwarded-For', address);
}

async function exhaust(service: Service, ...addresses: string[]): Promise<void> {
  for (let at = 0; at < 3; at += 1) {
    const address = addresses[at % addresses.length];
    await login(service, `unknown-${at}`, 'wrong', address).expect(401, INVALID);
  }
}

describe('Failed logins', () => {
  it('are refused with -40 where an address has too many in a minute, with Retry-After', async () => {
    const service = await start({});
    await exhaust(service);
    for (const clientID of ['unknown', service.clientID, 'not a client']) {
      const { headers } = await login(service, clientID, 'wrong').expect(429, EXCEEDED);
      expect(headers['retry-after']).toMatch(/^(60|[1-5]?[0-9])$/);
      expect(headers).not.toHaveProperty('x-ratelimit-limit');
      expect(headers).not.toHaveProperty('www-authenticate');
    }
  });

  it('keep nobody of the same address from logging in, a client that nobody has seen neither', async () => {
    const service = await start({});
    await exhaust(service);
    await login(service, service.clientID, service.token).expect(200);
    const { token } = await service.newClient('new');
    await login(service, 'new', token).expect(200);
    await login(service, 'new', 'wrong').expect(429, EXCEEDED);
  });

  it('are unknown clients and wrong tokens, and no other refusals', async () => {
    const service = await start({});
    const clients = service.application.get(ClientsService);
    await clients.create('barred', {});
    const expired = await clients.issue(service.clientID, -1000);
    const barred = await clients.issue('barred', null);
    await clients.update('barred', { disabled: true });
    for (let at = 0; at < 4; at += 1) {
      await service.anonymous().get('/brands').expect(401);
      await login(service, service.clientID, expired.token).expect(401);
      await login(service, 'barred', barred.token).expect(403);
      await service.get(`/brands?clientID=${service.clientID}`).expect(400);
      await service.get('/brands?nonsense=1').expect(400);
    }
    await exhaust(service);
  });

  it('have no limit where it is 0', async () => {
    const service = await start({ FAILED_LOGINS_PER_MINUTE: '0' });
    for (let at = 0; at < 100; at += 1) await login(service, 'unknown', 'wrong').expect(401);
  });
});

describe('The address that failed logins are counted by', () => {
  it('is that which the trusted proxy tells', async () => {
    const service = await start({ TRUST_PROXY: '1' });
    await exhaust(service, '192.0.2.1', '::ffff:192.0.2.1', '198.51.100.7, 192.0.2.1');
    await login(service, 'unknown', 'wrong', '192.0.2.1').expect(429);
    await login(service, 'unknown', 'wrong', '192.0.2.2').expect(401);
    await login(service, 'unknown', 'wrong').expect(401);
  });

  it('is that of the connection without a trusted proxy, and where a proxy tells no address', async () => {
    const untrusting = await start({});
    await exhaust(untrusting, '192.0.2.1', '192.0.2.2', '192.0.2.3');
    await login(untrusting, 'unknown', 'wrong', '192.0.2.4').expect(429);
    const trusting = await start({ TRUST_PROXY: '1' });
    await exhaust(trusting, 'a', 'unknown', '1.2.3');
    await login(trusting, 'unknown', 'wrong').expect(429);
  });

  it('is of IPv6 the network of 64 bits', async () => {
    const service = await start({ TRUST_PROXY: '1' });
    await exhaust(service, '2001:db8:0:1::1', '2001:DB8::1:a:b:c:d', '2001:0db8:0000:0001:ffff::');
    await login(service, 'unknown', 'wrong', '2001:db8:0:1:2:3:4:5').expect(429);
    for (const other of ['2001:db8:0:2::1', '2001:db8::1', '::1', '2001:db8:1::1']) {
      await login(service, 'unknown', 'wrong', other).expect(401);
    }
  });
});

describe('The log', () => {
  const service = sharedService({
    LOG_LEVEL: 'info',
    TRUST_PROXY: '1',
    FAILED_LOGINS_PER_MINUTE: '1',
  });
  const written: string[] = [];

  /** The errcode, client and address in the log line of each request. */
  async function lines(count: number): Promise<unknown[]> {
    await until(() => written.join('').split('\n').length > count);
    return written
      .join('')
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const { errcode, client, address } = JSON.parse(line);
        return { errcode, client, address };
      });
  }

  it('tells the address of each refused login, and of no other request', async () => {
    jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      written.push(String(chunk));
      return true;
    });
    const { clientID, token } = service;
    const clients = service.application.get(ClientsService);
    const expired = await clients.issue(clientID, -1000);
    await clients.create('barred', {});
    const barred = await clients.issue('barred', null);
    await clients.update('barred', { disabled: true });
    const from = (request: Test) => request.set('X-Forwarded-For', '192.0.2.9');
    await from(service.get('/brands')).expect(200);
    await from(service.get('/brands?nonsense=1')).expect(400);
    await from(service.anonymous().get('/nonsense')).expect(404);
    await from(service.anonymous().get('/brands')).expect(401);
    await from(login(service, 'unknown', 'wrong')).expect(401);
    await from(login(service, clientID, 'wrong')).expect(429);
    await from(login(service, clientID, expired.token)).expect(401);
    await from(login(service, 'barred', barred.token)).expect(403);
    await from(service.get(`/brands?clientID=${clientID}`)).expect(400);
    // A value that is no address is not logged, since a client may have sent it.
    await service.anonymous().get('/brands').set('X-Forwarded-For', token).expect(401);
    await service.anonymous().get('/brands').set('X-Forwarded-For', 'fe80::1%secret').expect(401);
    const address = '192.0.2.9';
    expect(await lines(11)).toEqual([
      { errcode: '0', client: clientID },
      { errcode: '-23', client: clientID },
      { errcode: '-30' },
      ...['-10', '-11', '-40', '-12', '-13', '-14'].map((errcode) => ({ errcode, address })),
      { errcode: '-10', address: '127.0.0.1' },
      { errcode: '-10', address: 'fe80::1' },
    ]);
  });
});
