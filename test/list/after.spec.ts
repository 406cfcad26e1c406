import { beforeAll, describe, expect, it } from '@jest/globals';
import { ProductType } from '../../src/products/product.entity.js';
import { Random } from '#server/testing/random.js';
import { refusal, sharedService } from '../service.js';

const PRODUCTS = 120;

const service = sharedService();

interface Body {
  response_data: { count: string; objects: { productID: string }[] };
}

async function pageOf(
  path: string,
): Promise<{ identifiers: string[]; count: string; link: string }> {
  // A link is relative to the list.
  const { body, headers } = await service.get(path.replace(/^\?/, '/products?')).expect(200);
  const { count, objects } = (body as Body).response_data;
  const identifiers = objects.map(({ productID }) => productID);
  return { identifiers, count, link: headers.link ?? '' };
}

/** The identifiers of all pages, by the link of a relation. */
async function walk(path: string, relation: string): Promise<string[]> {
  const found: string[] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const { identifiers, link } = await pageOf(next);
    found.push(...identifiers);
    // Behind an object, the relation of the next page is `next`.
    next = new RegExp(`<([^>]*)>; rel="${next.includes('after=') ? 'next' : relation}"`).exec(
      link,
    )?.[1];
  }
  return found;
}

beforeAll(async () => {
  const random = new Random('products');
  await service.load(
    'products',
    Array.from({ length: PRODUCTS }, (_, at) => ({
      productID: `p${String(at).padStart(3, '0')}`,
      type: random.pick(Object.values(ProductType)),
      name: random.chance(0.7) ? `name ${random.below(4)}` : null,
      price: random.chance(0.7) ? String(random.below(5)) : null,
      currency: 'EUR',
    })),
  );
});

describe('after', () => {
  it('neither skips nor repeats an object when others come and go', async () => {
    const list = '/products?sort=name&limit=40&fields=productID';
    const first = await pageOf(list);
    const last = first.identifiers.at(-1) ?? '';
    const rest = (await pageOf(`${list.replace('40', '1000')}&after=${last}`)).identifiers;
    await service.load(
      'products',
      Array.from({ length: 10 }, (_, at) => ({ productID: `a${at}`, type: 'DIGITAL', name: 'a' })),
    );
    const next = /<([^>]*)>; rel="after"/.exec(first.link)?.[1] ?? '';
    expect(await walk(next, 'next')).toEqual(rest);
    expect((await pageOf(`${list}&offset=40`)).identifiers).not.toEqual(rest.slice(0, 40));
    await service.dataSource.query(`DELETE FROM products WHERE "productID" LIKE 'a%'`);
  });

  it('begins behind an object that the filters leave out', async () => {
    const { identifiers } = await pageOf('/products?type=PHYSICAL&limit=1000');
    const { identifiers: others } = await pageOf('/products?type=DIGITAL&limit=1000');
    const [, , place = ''] = others;
    expect((await pageOf(`/products?type=PHYSICAL&limit=1000&after=${place}`)).identifiers).toEqual(
      identifiers.filter((identifier) => identifier > place),
    );
  });

  it.each(['price,name', '-price,-name', '-name,price'])(
    'walks a list by columns of which some have no value: %s',
    async (sort) => {
      const list = `/products?sort=${sort}&fields=productID`;
      const { identifiers } = await pageOf(`${list}&limit=1000`);
      expect(await walk(`${list}&limit=7`, 'after')).toEqual(identifiers);
    },
  );

  it('is -31 for an object that does not exist, also as a stream', async () => {
    const path = '/products?sort=-price&after=nothing';
    const expected = refusal(-31, 'There is no products object nothing');
    await service.get(path).expect(404, expected);
    await service.get(path).set('Accept', 'text/csv').expect(404, expected);
  });

  it('is -22 beside an offset, also if that is 0, and for a value that is no identifier', async () => {
    const message = 'The parameter after must be given without offset';
    await service.get('/products?after=p001&offset=0').expect(400, refusal(-22, message));
    await service
      .get('/products?after=')
      .expect(400, refusal(-22, 'The parameter after must be text of 1 to 100 characters'));
  });

  it('has entity tags of its own', async () => {
    const { headers } = await service.get('/products?after=p001').expect(200);
    const tag = headers.etag ?? '';
    await service.get('/products?after=p001').set('If-None-Match', tag).expect(304);
    await service.get('/products?after=p002').set('If-None-Match', tag).expect(200);
  });
});
