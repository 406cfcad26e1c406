import { describe, expect, it } from '@jest/globals';
import { refusal, sharedService } from '../service.js';

const service = sharedService({ MAX_LIMIT: '20' });

describe('The order of checks', () => {
  it('looks at the credentials before the parameters', async () => {
    await service
      .anonymous()
      .get('/products?nonsense=1')
      .expect(401, refusal(-10, 'The parameter clientID is required'));
  });

  it.each([
    ['limit=abc&offset=abc', '-22', 'limit'],
    ['offset=abc&limit=abc', '-22', 'offset'],
    ['fields=x&limit=abc', '-25', 'fields'],
    ['limit=abc&fields=x', '-22', 'limit'],
    ['sort=x&limit=5000', '-25', 'sort'],
    ['limit=5000&sort=x', '-26', 'limit'],
    ['limit=1&limit=1&offset=abc', '-24', 'limit'],
    ['limit=1&offset=abc&limit=1', '-22', 'offset'],
    ['limit=abc&limit=1', '-22', 'limit'],
    ['type=PHYSICAL&type=PHYSICAL', '-24', 'type'],
    ['clientID=tester&limit=abc', '-14', 'clientID'],
  ])('names what stands first in %s', async (query, errcode, name) => {
    const { body } = await service.get(`/products?${query}`).expect(400);
    expect(body.result.errcode).toBe(errcode);
    expect(body.result.msg).toMatch(new RegExp(`^The parameter ${name} `));
  });

  it('looks at the parameters before the object', async () => {
    const { body } = await service.get('/products/none?fields=x').expect(400);
    expect(body.result.errcode).toBe('-25');
  });
});

describe('Parameters', () => {
  it('may not be repeated, credentials neither', async () => {
    const { clientID, token } = service;
    await service
      .anonymous()
      .get(`/products?clientID=${clientID}&access_token=${token}&clientID=${clientID}`)
      .expect(400, refusal(-24, 'The parameter clientID must be given only once'));
  });

  it('are bounded by MAX_LIMIT, as is the default page', async () => {
    await service
      .get('/brands?limit=21')
      .expect(400, refusal(-26, 'The parameter limit must be between 0 and 20'));
    await service.load(
      'brands',
      Array.from({ length: 25 }, (_, at) => ({ brandID: `b${at}`, name: 'B' })),
    );
    const { body } = await service.get('/brands').expect(200);
    expect(body.response_data.objects).toHaveLength(20);
  });

  it('may stand between empty parts of the query', async () => {
    await service.get('/brands?&&limit=1&&').expect(200);
    await service.get('/brands?').expect(200);
  });
});

describe('Every response', () => {
  it('has an id, the client’s own where it is a plain token', async () => {
    const { headers } = await service.get('/brands').expect(200);
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    await service.get('/brands').set('X-Request-Id', 'mine-1').expect('X-Request-Id', 'mine-1');
    const other = await service.get('/brands').set('X-Request-Id', 'not plain').expect(200);
    expect(other.headers['x-request-id']).not.toBe('not plain');
  });

  it('may be kept by its client alone, and only if it asks again', async () => {
    const { headers } = await service.get('/brands').expect(200);
    expect(headers['cache-control']).toBe('private, no-cache');
    expect(headers.vary).toBe('Accept, Authorization, Accept-Encoding');
    expect(headers['x-powered-by']).toBeUndefined();
  });
});
