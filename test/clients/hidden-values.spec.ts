import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ClientsService } from '#server/clients/clients.service.js';
import { Random } from '#server/testing/random.js';
import { type Service, startService } from '../service.js';

/** Requests of each attacker, before and after the hidden values change; set HIDDEN_VALUES for more. */
const REQUESTS = Number(process.env.HIDDEN_VALUES ?? 200);
const HIDDEN = [
  ...['price', 'stock', 'description', 'imageURL'].map((name) => `products.${name}`),
  ...['name', 'price', 'stock'].map((name) => `variants.${name}`),
  'brands.name',
  'categories.parentID',
];
/** Changes of nothing but hidden values, and of what is derived from them. */
const CHANGES = [
  `UPDATE products SET price = CASE WHEN price IS NULL THEN 7 ELSE nullif(mod(price + 13, 50), 20) END, currency = 'EUR',
    stock = CASE WHEN stock > 0 THEN 0 ELSE 9 END, description = reverse(description), "imageURL" = 'https://b.example'`,
  `UPDATE variants SET price = 60 - price, stock = 3 - stock, name = CASE name WHEN 'S' THEN 'L' ELSE 'S' END`,
  `UPDATE brands SET name = reverse(name)`,
  `UPDATE categories SET "parentID" = NULL WHERE "categoryID" = 'c3'`,
];
const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString();
const PATHS = [
  '/products',
  '/products/p03',
  '/facets/products',
  '/changes',
  '/variants',
  '/variants/v03',
  '/facets/variants',
  '/brands',
  '/categories',
  '/categories/c2',
];

let service: Service;

beforeAll(async () => {
  service = await startService();
  const ids = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, at) => `${prefix}${String(at).padStart(2, '0')}`);
  const brands = ids('b', 5);
  await service.load(
    'brands',
    brands.map((brandID, at) => ({ brandID, name: `Brand ${at}` })),
  );
  await service.load('categories', [
    { categoryID: 'c0', name: 'one' },
    { categoryID: 'c1', name: 'two' },
    { categoryID: 'c2', name: 'three', parentID: 'c0' },
    { categoryID: 'c3', name: 'four', parentID: 'c1' },
  ]);
  const products = ids('p', 60);
  await service.load(
    'products',
    products.map((productID, at) => ({
      productID,
      refID: `R-${at}`,
      type: ['PHYSICAL', 'DIGITAL', 'SERVICE'][at % 3],
      name: `saw number ${at}`,
      description: `blue words ${at}`,
      brandID: brands[at % 6] ?? null,
      categoryID: `c${at % 4}`,
      price: at % 7 > 0 ? String((at * 3) % 50) : null,
      currency: 'EUR',
      stock: at % 5 > 0 ? at % 2 : null,
      colours: ['red'],
      imageURL: 'https://a.example',
    })),
  );
  await service.load(
    'variants',
    ids('v', 60).map((variantID, at) => ({
      variantID,
      productID: products[at % 20],
      name: at % 3 > 0 ? 'S' : 'L',
      price: String(at),
      currency: 'EUR',
      stock: at % 4,
    })),
  );
  await service.load('products', [{ productID: 'gone', type: 'SERVICE' }]);
  await service.dataSource.query(`DELETE FROM products WHERE "productID" = 'gone'`);
  // The times of changes are not hidden.
  for (const resource of ['products', 'variants', 'brands', 'categories']) {
    const { dataSource } = service;
    await dataSource.query(`ALTER TABLE ${resource} DISABLE TRIGGER ${resource}_updated_at`);
  }
}, 60_000);
afterAll(() => service.stop());

interface Attack {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

type Credentials = Readonly<Record<'X-Client-ID' | 'Authorization', string>>;

async function send(attack: Attack, credentials: Credentials, ifNoneMatch?: string) {
  const response = await fetch(`http://127.0.0.1:${service.port}${attack.target}`, {
    method: attack.method,
    headers: {
      ...credentials,
      ...attack.headers,
      ...(ifNoneMatch !== undefined && { 'If-None-Match': ifNoneMatch, Prefer: 'wait=1' }),
    },
  });
  // Without when it was answered, and to which request.
  const headers: Record<string, string | undefined> = Object.fromEntries(
    [...response.headers].filter(
      ([name]) => !['date', 'x-request-id', 'x-updated-until'].includes(name),
    ),
  );
  return { status: response.status, headers, body: await response.text() };
}

/** Every parameter that a client that sees everything may send, with values for it, and what else it may try. */
async function arsenal(credentials: Credentials): Promise<Map<string, [string, string[]][]>> {
  const crafted: [string, string[]][] = HIDDEN.map((name) => [
    name.replace(/.*\./, ''),
    ['10', 'S', 'EUR', 'Brand 1'],
  ]);
  const found = new Map<string, [string, string[]][]>();
  for (const path of PATHS) {
    const required = path === '/changes' ? `?since=${YESTERDAY}` : '';
    const { body } = await send({ method: 'OPTIONS', target: path, headers: {} }, credentials);
    const { response_data: page } = JSON.parse(body || '{}');
    const known = (page?.objects ?? []) as Record<string, unknown>[];
    const parameters = known.map(({ name, type, allowedValues }): [string, string[]] => {
      const values = ((allowedValues ?? []) as unknown[]).map(String);
      const some = type === 'integer' ? ['0', '1', '5', '40'] : [...GUESSES];
      return [String(name), values.length > 0 ? values : some];
    });
    found.set(path + required, [
      ...parameters.filter(([name]) => !['clientID', 'access_token', 'since'].includes(name)),
      ...crafted,
    ]);
  }
  return found;
}

const GUESSES = [
  ...['0', '10', '25.5', '49', '7', 'S', 'L', 'blue', 'eulb', 'saw', 'saw*', 'p03', 'v03', 'R-3'],
  ...['c0', 'c1', 'c2', 'b01', 'Brand 1', 'EUR', 'brand', '2026-01-01T00:00:00Z', '5,20', ''],
];

function randomAttack(random: Random, all: Map<string, [string, string[]][]>): Attack {
  const [path, parameters] = random.pick([...all]);
  const sent = new URLSearchParams();
  for (let left = 1 + random.below(3); left > 0; left -= 1) {
    const [name, values] = random.pick(parameters);
    const several = random.chance(0.3)
      ? [random.pick(values), random.pick(values)]
      : [random.pick(values)];
    sent.append(name, several.join());
  }
  const accept = random.pick([
    'application/json',
    'application/json',
    'text/csv',
    'application/x-ndjson',
  ]);
  return {
    method: random.pick(['GET', 'GET', 'GET', 'GET', 'HEAD', 'OPTIONS']),
    target: `${path}${path.includes('?') ? '&' : '?'}${sent.toString()}`,
    headers: { Accept: accept },
  };
}

it(`Of hidden values, ${REQUESTS} requests of an attacker who knows every parameter tell nothing`, async () => {
  const clients = service.application.get(ClientsService);
  const loginOf = async (clientID: string): Promise<Credentials> => {
    const { token } = await clients.issue(clientID, null);
    return { 'X-Client-ID': clientID, Authorization: `Bearer ${token}` };
  };
  await clients.create('hiding', { hidden: HIDDEN });
  await clients.create('narrow', { resources: ['products', 'variants'], hidden: HIDDEN });
  await clients.create('public', { isPublic: true, rateLimit: 0, hidden: HIDDEN });
  const whole = await loginOf(service.clientID);
  const all = await arsenal(whole);
  const random = new Random('attacks');
  const attacks = [
    // What is not random: each parameter by itself with each of its values.
    ...[...all].flatMap(([path, parameters]) =>
      parameters.flatMap(([name, values]) =>
        values.map((value): Attack => ({
          method: 'GET',
          target: `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ [name]: value }).toString()}`,
          headers: {},
        })),
      ),
    ),
    ...PATHS.flatMap((target) =>
      ['GET', 'OPTIONS'].map((method) => ({ method, target, headers: {} })),
    ),
    { method: 'GET', target: '/openapi.json', headers: {} },
  ];
  const named = attacks.filter(({ target }) => /[?&](facets|include|sort)=/.test(target));
  const chosen = [
    ...named,
    ...Array.from({ length: REQUESTS - named.length }, () =>
      random.chance(0.5) ? randomAttack(random, all) : random.pick(attacks),
    ),
  ];
  expect(chosen).toHaveLength(REQUESTS);
  const attackers = [...(await Promise.all(['hiding', 'narrow', 'public'].map(loginOf))), whole];
  const seen = new Map<string, Awaited<ReturnType<typeof send>>>();
  for (const attack of chosen) {
    for (const attacker of attackers) {
      seen.set(JSON.stringify([attack, attacker]), await send(attack, attacker));
    }
  }
  for (const change of CHANGES) await service.dataSource.query(change);
  let [answered, learned] = [0, 0];
  for (const attack of chosen) {
    for (const attacker of attackers) {
      const before = seen.get(JSON.stringify([attack, attacker]));
      const after = await send(attack, attacker);
      if (attacker === whole) {
        if (after.body !== before?.body) learned += 1;
        continue;
      }
      expect({ attack, client: attacker['X-Client-ID'], ...after }).toEqual({
        attack,
        client: attacker['X-Client-ID'],
        ...before,
      });
      const { etag } = after.headers;
      if (after.status === 200) answered += 1;
      // The document is sent again to `Cache-Control: no-cache`, which fetch adds.
      if (etag === undefined || attack.target === '/openapi.json') continue;
      const { status } = await send(attack, attacker, etag);
      expect({ attack, status }).toEqual({ attack, status: 304 });
    }
  }
  // The attackers get answers, and whoever sees everything sees the changes.
  expect(answered).toBeGreaterThan(REQUESTS / 2);
  expect(learned).toBeGreaterThan(REQUESTS / 20);
}, 600_000);
