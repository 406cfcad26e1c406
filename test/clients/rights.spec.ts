import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Test } from 'supertest';
import { Column, PrimaryColumn } from 'typeorm';
import { explainList } from '#server/cli/explain-list.js';
import { type ClientOptions, ClientsService } from '#server/clients/clients.service.js';
import { CommandError } from '#server/command-error.js';
import { ApiError } from '#server/http/errors.js';
import { settingsFor } from '#server/http/parameters/declared-parameters.js';
import { FixedBody } from '#server/openapi/public-pages.js';
import { conditionsFrom } from '#server/list/condition/from-typeorm.js';
import { having, identifierColumn, Resource } from '@catalogue/server';
import { Listing } from '#server/list/listing/listing.js';
import { VisibleListing } from '#server/list/visibility/visible-listing.js';
import { ListProductsDto } from '../../src/products/list-products.dto.js';
import { Product } from '../../src/products/product.entity.js';
import { children } from '#server/resource/relations.js';
import { declaredColumns } from '#server/resource/declaration.js';
import { resourcesOf } from '#server/resource/resource.js';
import { Rights } from '#server/resource/visibility.js';
import { Variant } from '../../src/variants/variant.entity.js';
import { callLists } from '#server/verify/called-lists.js';
import { startWith } from '../list/migrated.js';
import { refusal } from '../service.js';
import { until } from '../until.js';
import { WaresModule } from './ware.fixture.js';
import { shared } from '#server/testing/shared.js';

@Resource('test_circles', { derived: { one: ['other'], other: ['one'], both: ['both'] } })
class Circle {
  @PrimaryColumn(identifierColumn)
  circleID!: string;

  @Column({ type: 'integer' })
  one!: number;

  @Column({ type: 'integer' })
  other!: number;

  @Column({ type: 'integer' })
  both!: number;
}

const service = shared(() =>
  startWith(WaresModule, {
    environment: { MAX_LIMIT: '500', TRUST_PROXY: 'loopback' },
  }),
);
let clients: ClientsService;

beforeAll(async () => {
  clients = service.application.get(ClientsService);
  await service.load('brands', [{ brandID: 'b1', name: 'Acme' }]);
  await service.load('categories', [
    { categoryID: 'c1', name: 'Tools' },
    { categoryID: 'c2', parentID: 'c1', name: 'Saws' },
  ]);
  await service.load('products', [
    {
      productID: 'p1',
      name: 'blue saw',
      type: 'PHYSICAL',
      brandID: 'b1',
      categoryID: 'c2',
      price: '5',
      currency: 'EUR',
      stock: 3,
    },
    { productID: 'p2', name: 'red saw', type: 'DIGITAL', price: '7', currency: 'EUR', stock: 0 },
  ]);
  await service.load('variants', [
    { variantID: 'v1', productID: 'p1', name: 'S', price: '5', currency: 'EUR' },
  ]);
  await service.dataSource.query(
    `INSERT INTO test_goods ("wareID", name, cost, grade, margin, rank) VALUES ('w1', 'nut', 5, 'A', 1, 1)`,
  );
});

type As = (path: string, method?: 'get' | 'options' | 'head') => Test;

let created = 0;
/** A client with some rights. */
async function clientWith(options: ClientOptions): Promise<As> {
  created += 1;
  const clientID = `client-${created}`;
  const { headers } = await service.newClient(clientID, options);
  return (path, method = 'get') => service.anonymous()[method](path).set(headers);
}

async function objects(test: Test): Promise<Record<string, unknown>[]> {
  const { body } = await test.expect(200);
  return body.response_data.objects;
}

/** The names of the parameters of a path, and all that they may name. */
async function parameters(as: As, path: string): Promise<Map<string, string[]>> {
  const found = await objects(as(path, 'options'));
  return new Map(
    found.map(({ name, allowedValues }) => [name as string, (allowedValues ?? []) as string[]]),
  );
}

const undefinedParameter = (name: string) =>
  refusal(-23, `The parameter ${name} must not be present in this request`);

describe('A client of some resources', () => {
  let as: As;

  beforeAll(async () => {
    as = await clientWith({ resources: ['products', 'variants'] });
  });

  it.each(['/brands', '/brands/b1', '/brands?nonsense=1'])(
    'is refused the others: %s',
    async (path) => {
      const body = refusal(-15, 'The resource brands is not for this client');
      await as(path).expect(403, body);
      await as(path, 'options').expect(403, body);
    },
  );

  it('gets its own, without objects of the others', async () => {
    const [product] = await objects(as('/products?include=variants&limit=1'));
    expect(product).toMatchObject({ productID: 'p1', brandID: 'b1', variantsCount: '1' });
    await as('/products?include=brand').expect(400, /may name variants"/);
    await as('/products?fields=brand.name').expect(400, /-25/);
    await as('/products?within=c1').expect(400, undefinedParameter('within'));
    const known = await parameters(as, '/products');
    expect(known.get('include')).toEqual(['variants']);
    expect(known.has('within')).toBe(false);
    expect(known.has('q')).toBe(true);
    const counts = await objects(as('/facets/products?facets=brandID'));
    expect(counts).toEqual([{ field: 'brandID', value: 'b1', label: null, count: '1' }]);
    await as('/facets/products?facets=brandID&facetStarts=acme').expect(200, /"count":"0"/);
    await as('/facets/products?facets=within').expect(400, /-25/);
  });

  it('has no path that a handler of its own answers, which may read anything', async () => {
    const body = refusal(-15, 'This path is not for this client');
    await as('/sum_of_wares').expect(403, body);
    const wares = await clientWith({ resources: ['test_goods'] });
    await wares('/own_wares').expect(403, body);
    await service.get('/own_wares').expect(200);
    await service.get('/sum_of_wares').expect(200);
  });
});

describe('A hidden field', () => {
  let as: As;

  beforeAll(async () => {
    const hidden = [
      'products.price',
      'products.stock',
      'variants.price',
      'variants.stock',
      'brands.name',
    ];
    as = await clientWith({ hidden: [...hidden, 'test_goods.cost'] });
  });

  it('is in no object', async () => {
    const [all, one] = [as('/products?include=brand,variants'), as('/products/p1?include=brand')];
    for (const [product] of [await objects(all), await objects(one)]) {
      expect(product).toMatchObject({ productID: 'p1', brand: { brandID: 'b1' } });
      expect(JSON.stringify(product)).not.toMatch(/price|stock|Acme/i);
    }
    for (const format of ['text/csv', 'application/x-ndjson']) {
      const { text } = await as('/products').set('Accept', format).buffer(true).expect(200);
      expect(text).toContain('p1');
      expect(text).not.toMatch(/price|stock/);
    }
  });

  it('is no parameter, and none may name it', async () => {
    for (const name of ['priceMin', 'priceMax', 'priceExists', 'inStock', 'stockMin']) {
      await as(`/products?${name}=x`).expect(400, undefinedParameter(name));
      await as(`/facets/products?${name}=x`).expect(400, undefinedParameter(name));
    }
    await as('/brands?name=Acme').expect(400, undefinedParameter('name'));
    for (const path of [
      '/products?sort=price',
      '/products?sort=-price',
      '/products?fields=price',
      '/products/p1?fields=price',
      '/products?fields=brand.name',
      '/products?fields=variants.price',
      '/variants?sort=price',
      '/facets/products?facets=price',
      '/facets/products?facets=inStock',
    ]) {
      await as(path).expect(400, /-25.*may name (?!.*(price|stock|brand\.name))/i);
    }
    await as('/facets/products?facets=price&bounds=1').expect(400, /-25/);
    await as('/products?q=saw&sort=relevance').expect(200);
  });

  it.each(['/products', '/products/p1', '/facets/products', '/variants', '/brands'])(
    'is not in OPTIONS of %s',
    async (path) => {
      const { text } = await as(path, 'options').expect(200);
      expect(text).not.toMatch(/price|stock/i);
      if (path === '/brands') expect(text).not.toContain('"name":"name"');
    },
  );

  it('is counted by no facet, and names no value of one', async () => {
    const counts = await objects(as('/facets/products'));
    expect(new Set(counts.map(({ field }) => field))).not.toContain('inStock');
    expect(counts).toContainEqual({ field: 'brandID', value: 'b1', label: null, count: '1' });
  });

  it('is not in the document of the client, which is whole without one', async () => {
    const { body } = await as('/openapi.json').expect(200);
    expect(Object.keys(body.components.schemas.Product.properties)).not.toContain('price');
    // Other resources may have fields of these names.
    const ofProducts = JSON.stringify([body.paths['/products'], body.paths['/facets/products']]);
    expect(/"(priceMin|inStock|stockMin|-?price|stock)"/.exec(ofProducts)?.[0]).toBeUndefined();
    const whole = await service.anonymous().get('/openapi.json').expect(200);
    expect(whole.text).toMatch(/"priceMin"/);
    await service.anonymous().get('/openapi.json?clientID=tester&access_token=x').expect(401);
  });

  it('is searched by no words', async () => {
    const without = await clientWith({ hidden: ['products.description'] });
    await without('/products?q=saw').expect(400, undefinedParameter('q'));
    await without('/products?sort=relevance').expect(400, /-25/);
    const unreferenced = await clientWith({ hidden: ['products.refID'] });
    await unreferenced('/products?q=saw').expect(400, undefinedParameter('q'));
  });

  it('may be the time of the last change, so that not even a change is told', async () => {
    const timeless = await clientWith({ hidden: ['products.updatedAt', 'products.price'] });
    for (const name of ['updatedSince', 'updatedUntil'])
      await timeless(`/products?${name}=2026-01-01`).expect(400, undefinedParameter(name));
    await timeless('/products?sort=updatedAt').expect(400, /-25/);
  });

  it('decides not what is related', async () => {
    const without = await clientWith({ hidden: ['products.brandID', 'categories.parentID'] });
    await without('/products?include=brand').expect(400, /-25/);
    await without('/products?fields=brand.name').expect(400, /-25/);
    for (const name of ['brandID', 'brandIDNot', 'brandIDExists', 'within']) {
      await without(`/products?${name}=b1`).expect(400, undefinedParameter(name));
    }
    await without('/facets/products?facets=brandIDExists').expect(400, /-25/);
    await without('/categories?include=parent').expect(400, undefinedParameter('include'));
    const childless = await clientWith({ hidden: ['variants.productID'] });
    await childless('/products?include=variants').expect(400, /-25/);
    await childless('/products?variant=S').expect(400, undefinedParameter('variant'));
  });

  it('is not told by the facets of a resource that counts nothing else', async () => {
    const none = await clientWith({ hidden: ['variants.name', 'variants.price'] });
    const body = refusal(-15, 'These facets are not for this client');
    await none('/facets/variants').expect(403, body);
    await none('/facets/products').expect(200);
  });

  it('is derived by nothing that an author writes', async () => {
    const [ware] = await objects(as('/test_goods'));
    expect(ware).toEqual({ wareID: 'w1', name: 'nut', tripled: 'nutnutnut' });
    for (const name of ['margin', 'costBySql']) {
      await as(`/test_goods?${name}=1`).expect(400, undefinedParameter(name));
    }
    await as('/test_goods?name=nut&rank=1').expect(200, /"count":"1"/);
    await as('/test_goods?nameOrCost=nut').expect(200, /"count":"1"/);
    const body = refusal(-15, 'This list is not for this client');
    for (const filter of ['nameOrCost=cheap', 'below=9', 'saidBySql=1']) {
      await as(`/test_goods?${filter}`).expect(403, body);
    }
    await as('/cheap_goods').expect(403, body);
    await as('/facets/test_goods').expect(403);
    await service.get('/test_goods?costBySql=1&margin=1').expect(200, /"count":"1"/);
    await service.get('/cheap_goods').expect(200, /"doubled":10/);
  });

  it('is told by verify if a filter reads it and says something else', async () => {
    const { problems } = await callLists(service.application);
    expect(problems).toEqual([
      'the filter saidBySql at /test_goods says what it reads, but its condition is SQL, which a client with rights does not get',
      'the filter below at /test_goods reads cost, which it does not say: name it in reads of its decorator',
    ]);
  });

  it('is in no entity that is no resource', () => {
    class History {
      price = '1';
    }
    expect(new Rights(null, ['products.price'], false).sees(History, 'price')).toBe(false);
    expect(new Rights(null, [], true).sees(History, 'price')).toBe(true);
  });

  it('is in no column that is derived in a circle', () => {
    const rights = new Rights(null, ['products.price'], false);
    for (const column of ['one', 'other', 'both']) expect(rights.sees(Circle, column)).toBe(false);
    expect(rights.sees(Circle, 'circleID')).toBe(true);
  });

  it('is in no list that is explained for its client, nor is any other that it may not read', async () => {
    const narrowed = await clientWith({ resources: ['products'], hidden: ['products.price'] });
    await narrowed('/products').expect(200);
    const explained = (url: string) => explainList(service.application, url, `client-${created}`);
    expect((await explained('/products?limit=1')).join('\n')).not.toMatch(/"price"/);
    expect((await explainList(service.application, '/products?limit=1')).join('\n')).toMatch(
      /AS "price"/,
    );
    await expect(explained('/products?priceMin=1')).rejects.toThrow(
      '-23: The parameter priceMin must not be present in this request',
    );
    await expect(explained('/products?sort=price')).rejects.toThrow('-25: ');
    await expect(explained('/brands')).rejects.toThrow(
      '-15: The resource brands is not for this client',
    );
    await expect(explainList(service.application, '/products', 'none')).rejects.toThrow(
      new CommandError('There is no client none'),
    );
  });

  it('does not end a wait', async () => {
    const waiting = (path: string) => as(path).set('Prefer', 'wait=1');
    const { headers } = await waiting('/products?fields=name').expect(200);
    expect(headers).not.toHaveProperty('preference-applied');
    const tag = headers.etag ?? '';
    const unchanged = await waiting('/products?fields=name').set('If-None-Match', tag).expect(304);
    expect(unchanged.headers).not.toHaveProperty('preference-applied');
  });

  it('changes no entity tag, and a field that is seen does', async () => {
    const fields = 'fields=productID,currency';
    const paths = [`/products?${fields}`, '/facets/products?facets=type,currency', '/products/p2'];
    const ask = (path: string, tag: string) => as(path).set('If-None-Match', tag);
    const change = (set: string) =>
      service.dataSource.query(`UPDATE products SET ${set} WHERE "productID" = 'p2'`);
    await service.dataSource.query('ALTER TABLE products DISABLE TRIGGER products_updated_at');
    for (const path of paths) {
      const { headers } = await as(path).expect(200);
      const { etag = '' } = headers;
      await ask(path, etag).expect(304);
      await change('price = price + 1, stock = 1 - stock');
      // Read from the database, and from memory, also that of a client that sees every field.
      await service.get(path).expect(200);
      for (let times = 0; times < 2; times += 1)
        await ask(path, etag).expect(304).expect('ETag', etag);
      await change(`currency = CASE currency WHEN 'EUR' THEN 'USD' ELSE 'EUR' END`);
      await ask(path, etag).expect(200);
    }
    const { headers } = await as('/products').set('Accept', 'text/csv').expect(200);
    expect(headers).not.toHaveProperty('etag');
    await service.dataSource.query('ALTER TABLE products ENABLE TRIGGER products_updated_at');
  });

  it('leaves a page its own entity tag, which changes with the count alone', async () => {
    const path = '/products?fields=productID&limit=1';
    const { headers, body } = await as(path).expect(200);
    const { etag = '' } = headers;
    await service.load('products', [{ productID: 'p9', type: 'DIGITAL' }]);
    const changed = await as(path).set('If-None-Match', etag).expect(200);
    const { count, objects: shown } = body.response_data;
    expect(changed.body.response_data).toEqual({
      count: String(Number(count) + 1),
      objects: shown,
    });
    await service.dataSource.query(`DELETE FROM products WHERE "productID" = 'p9'`);
    await as(path).set('If-None-Match', etag).expect(304);
  });

  it('is seen by others at the same time', async () => {
    const seeing = (test: Test) => test.expect(200, /"price":/);
    for (let times = 0; times < 2; times += 1) {
      await seeing(service.get('/products?limit=1'));
      expect(Object.keys((await objects(as('/products?limit=1')))[0] ?? {})).not.toContain('price');
    }
  });
});

describe('A client with a public token', () => {
  let as: As;

  beforeAll(async () => {
    as = await clientWith({ isPublic: true });
  });

  it('gets lists, objects and facets', async () => {
    await as('/products?include=brand&priceMin=1').expect(200, /"count":"2"/);
    await as('/products/p1').expect(200);
    await as('/facets/products').expect(200);
  });

  it.each([
    ['/changes?since=x', 'application/x-ndjson', 'Changes are'],
    ['/products?nonsense=1', 'text/csv', 'Whole lists are'],
    ['/products', 'application/x-ndjson', 'Whole lists are'],
    ['/sum_of_wares', '*/*', 'This path is'],
    ['/own_wares', '*/*', 'This path is'],
  ])('is refused %s as %s', async (path, accept, what) => {
    await as(path)
      .set('Accept', accept)
      .expect(403, refusal(-15, `${what} not for this client`));
  });

  it('gets 100 objects a page at most, and is told so', async () => {
    const beyond = 'The parameter limit must be between 0 and 100';
    await as('/products?limit=101').expect(400, refusal(-26, beyond));
    await as('/facets/products?limit=101').expect(400, refusal(-26, beyond));
    const [limit] = (await objects(as('/products', 'options'))).filter(
      ({ name }) => name === 'limit',
    );
    expect(limit).toMatchObject({ maximum: 100, default: 50 });
    const { body } = await as('/openapi.json').expect(200);
    expect(Object.keys(body.paths)).not.toContain('/changes');
    expect(
      body.components.schemas.ProductPage.properties.response_data.properties.objects,
    ).toMatchObject({ maxItems: 100 });
  });
});

it('At most fifty API documents are kept in memory, those that were asked for last', async () => {
  const names = Object.keys((await objects(service.get('/products?limit=1')))[0] ?? {}).slice(1);
  const pairs = names.flatMap((one, at) => names.slice(at + 1).map((other) => [one, other]));
  const send = jest.spyOn(FixedBody.prototype, 'send');
  const documentOf = async (client: As): Promise<unknown> => {
    await client('/openapi.json').expect(200);
    return send.mock.contexts.at(-1);
  };
  const clientsOf = pairs
    .slice(0, 51)
    .map((pair) => clientWith({ resources: [], hidden: pair.map((name) => `products.${name}`) }));
  const [first, ...others] = (await Promise.all(clientsOf)) as [As, ...As[]];
  const document = await documentOf(first);
  expect(await documentOf(first)).toBe(document);
  for (const each of others) await documentOf(each);
  expect(await documentOf(first)).not.toBe(document);
  send.mockRestore();
});

it.each([true, false])(
  'The request limit of a client counts by address if its token is public: %s',
  async (isPublic) => {
    await clientWith({ isPublic, rateLimit: 2 });
    const { token } = await clients.issue(`client-${created}`, null);
    const from = (address: string): Test =>
      service
        .anonymous()
        .get('/brands')
        .set({ 'X-Client-ID': `client-${created}`, Authorization: `Bearer ${token}` })
        .set('X-Forwarded-For', address);
    const left = async (address: string) => (await from(address)).headers['x-ratelimit-remaining'];
    expect([await left('192.0.2.1'), await left('192.0.2.1')]).toEqual(['1', '0']);
    await from('192.0.2.1').expect(429);
    await from('192.0.2.2').expect(isPublic ? 200 : 429);
    // A host may use any address of its network.
    expect(await left('2001:db8::1')).toBe(isPublic ? '1' : '0');
    expect(await left('2001:db8::2')).toBe('0');
  },
);

it('Of children, the order tells of the column that they are sorted by', () => {
  const rights = new Rights(null, ['variants.price'], false);
  expect(rights.seesRelated(Product, children(Variant, { sort: '-price' }))).toBe(false);
  expect(rights.seesRelated(Product, children(Variant, { sort: 'name' }))).toBe(true);
});

it('A list that looks up children by a column is not for a client that does not see it', () => {
  const products = service.dataSource.getRepository(Product);
  const filters = conditionsFrom(products.metadata, { productID: having(Variant, { name: 'S' }) });
  const listing = new Listing(products, new ListProductsDto(), filters);
  const without = (column: string) => {
    const rights = new Rights(null, [column], false);
    return VisibleListing.of(listing, { clientID: 'some', rights });
  };
  for (const column of ['variants.name', 'variants.productID']) {
    expect(() => without(column)).toThrow(ApiError);
  }
  expect(without('variants.price').filters).toHaveLength(1);
});

it('A list that its handler sorts by a column is not for a client that does not see it', () => {
  const products = service.dataSource.getRepository(Product);
  const sort = [{ field: 'price', direction: 'ASC' } as const];
  const filters = conditionsFrom(products.metadata, { stock: 3 });
  const listing = new Listing(products, Object.assign(new ListProductsDto(), { sort }), filters);
  const without = (column: string) => {
    const rights = new Rights(null, [column], false);
    return VisibleListing.of(listing, { clientID: 'some', rights });
  };
  expect(() => without('products.price')).toThrow(ApiError);
  // Also not by one that it filters by.
  expect(() => without('products.stock')).toThrow(ApiError);
  expect(without('products.currency').filters).toHaveLength(1);
});

it('A public client gets no larger pages than others', () => {
  const client = { clientID: 'some', rights: new Rights(null, [], true) };
  expect([20, 500].map((maxLimit) => settingsFor({ maxLimit }, client).maxLimit)).toEqual([
    20, 100,
  ]);
});

it('Of a resource that it may not read, a client does not see all', () => {
  const rights = new Rights(['products', 'variants'], ['variants.price'], false);
  expect(['products', 'variants', 'brands'].map((name) => rights.seesAll(name))).toEqual([
    true,
    false,
    false,
  ]);
});

it('The columns that are searched are those that the entity derives the words from', async () => {
  const rows = await service.dataSource.query<{ resource: string; columns: string[] }[]>(
    'SELECT resource, columns FROM searches',
  );
  expect(rows).not.toHaveLength(0);
  for (const { resource, columns } of rows) {
    const metadata = resourcesOf(service.dataSource).get(resource);
    expect(metadata && declaredColumns(metadata).derived.words).toEqual(columns);
  }
});

it('Rights that name what is gone are reported', async () => {
  await clientWith({});
  const hidden = `'{products.cost,products.price}', resources = '{products,prices}'`;
  await service.dataSource.query(
    `UPDATE clients SET hidden = ${hidden} WHERE "clientID" = 'client-${created}'`,
  );
  const [resource, field, ...others] = await clients.staleRights();
  expect(resource).toContain(`the client client-${created}: There is no resource prices, only`);
  expect(field).toContain(`the client client-${created}: There is no field products.cost`);
  expect(others).toEqual([]);
});

it('Rights take effect within ten seconds', async () => {
  const as = await clientWith({});
  await as('/brands').expect(200, /Acme/);
  const clientID = `client-${created}`;
  await clients.update(clientID, { hidden: ['brands.name'], resources: ['brands'] });
  await until(async () => !(await as('/brands')).text.includes('Acme'), 10_000);
  await as('/products').expect(403);
}, 20_000);

it.each([
  [{ resources: ['colours'] }, /^There is no resource colours, only .*products/],
  [
    { hidden: ['products.cost'] },
    'There is no field products.cost to hide: name one as products.price',
  ],
  [{ hidden: ['price'] }, 'There is no field price to hide'],
  [
    { hidden: ['products.productID'] },
    'products.productID cannot be hidden: it identifies the objects',
  ],
])('Rights that name what there is not are refused: %j', async (options, message) => {
  await expect(clients.create('wrong', options)).rejects.toThrow(message);
  await expect(clients.update('tester', options)).rejects.toThrow(message);
});
