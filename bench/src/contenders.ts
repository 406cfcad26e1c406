import { join } from 'node:path';
import { behindHaproxy } from './haproxy.js';
import { catalogue, PROJECT, type Server, startServer } from './processes.js';
import { PAGE, type Question } from './scenarios.js';

/** One of those that are compared. */
export interface Contender {
  readonly name: string;
  /** Whether its answers carry the exact count. */
  readonly counts: boolean;
  /** Whether it has the filters and sorts of a storefront. */
  readonly isStorefront: boolean;
  readonly server: Server;
  readonly headers: Record<string, string>;
  /** The path at which it answers a question. */
  path(question: Question): string;
}

export const SERVICE = 'this service';
export const UNCACHED = 'this service, no page cache';
export const ROWS = 'node:http + pg, rows';
export const DELIVERED = 'this service behind HAProxy, no page cache';
export const BASELINE = 'baseline, no page cache';
export const FIND_AND_COUNT = 'NestJS + findAndCount';
export const PAGINATE = 'nestjs-paginate';
const JSON_BY_POSTGRES = 'node:http + pg, JSON by PostgreSQL';

interface Definition extends Omit<Contender, 'server' | 'headers'> {
  /** What is started, with the arguments after it; the service with settings. */
  readonly program: readonly string[];
  readonly settings?: NodeJS.ProcessEnv;
}

const bare = (name: string, form: string, ...more: string[]): Definition => ({
  name,
  counts: more.includes('count'),
  isStorefront: false,
  path: plainPath,
  program: ['bare.js', form, ...more],
});

const storefront = { counts: true, isStorefront: true, path: plainPath };

const DEFINITIONS: readonly Definition[] = [
  { ...storefront, name: SERVICE, program: [], settings: {} },
  { ...storefront, name: UNCACHED, program: [], settings: { PAGE_CACHE_MB: '0' } },
  bare(ROWS, 'rows'),
  bare(`${ROWS}, count(*)`, 'rows', 'count'),
  bare(JSON_BY_POSTGRES, 'json'),
  bare(`${JSON_BY_POSTGRES}, count(*)`, 'json', 'count'),
  { ...storefront, name: FIND_AND_COUNT, program: ['find-and-count.js'] },
  { ...storefront, name: PAGINATE, path: paginatePath, program: ['paginate.js'] },
];

export const CONTENDER_NAMES = DEFINITIONS.map(({ name }) => name);
export const STOREFRONT_NAMES = DEFINITIONS.filter(({ isStorefront }) => isStorefront).map(
  ({ name }) => name,
);

/** Starts the service and whichever of the others are wanted on one database. */
export async function startContenders(
  databaseUrl: string,
  wanted: readonly string[] = CONTENDER_NAMES,
): Promise<Contender[]> {
  const headers = await credentials(databaseUrl);
  const started: Contender[] = [];
  for (const { program, settings, ...definition } of DEFINITIONS) {
    const { name } = definition;
    if (!settings && !wanted.includes(name)) continue;
    const server = settings
      ? await startService(PROJECT, databaseUrl, settings)
      : await startProgram(program, databaseUrl);
    started.push({ ...definition, server, headers: settings ? headers : {} });
  }
  return started;
}

/** Starts a contender of `contenders`, with its arguments. */
export function startProgram(
  [file = '', ...args]: readonly string[],
  databaseUrl: string,
): Promise<Server> {
  return startServer(join(import.meta.dirname, 'contenders', file), args, {
    DATABASE_URL: databaseUrl,
  });
}

/** Starts the service that was built in a folder. */
export function startService(
  folder: string,
  databaseUrl: string,
  settings: NodeJS.ProcessEnv,
): Promise<Server> {
  return startServer(join(folder, 'dist', 'main.js'), ['start'], {
    DATABASE_URL: databaseUrl,
    PORT: '0',
    ADMIN_PORT: '0',
    HOST: '127.0.0.1',
    ...settings,
  });
}

/**
 * Starts two services without a page cache. The second one is behind HAProxy with `deploy/haproxy.cfg`. If a folder is
 * given, starts the service that was built in it, too.
 *
 * @param folder of another version; `undefined`: none
 */
export async function startUncached(
  databaseUrl: string,
  folder: string | undefined,
): Promise<{ readonly name: string; readonly server: Server }[]> {
  const start = (from: string): Promise<Server> =>
    startService(from, databaseUrl, { PAGE_CACHE_MB: '0' });
  const services = [
    { name: UNCACHED, server: await start(PROJECT) },
    { name: DELIVERED, server: await behindHaproxy(await start(PROJECT)) },
  ];
  if (folder !== undefined) services.push({ name: BASELINE, server: await start(folder) });
  return services;
}

/** Starts the service on a database that nobody else uses. */
export async function startAlone(databaseUrl: string, service = UNCACHED): Promise<Contender> {
  const definition = DEFINITIONS.find(({ name }) => name === service);
  if (!definition) throw new Error(`There is no ${service}`);
  const headers = await credentials(databaseUrl);
  const server = await startService(PROJECT, databaseUrl, definition.settings ?? {});
  return { ...definition, server, headers };
}

let clients = 0;

/** Headers with the credentials of a new client without a rate limit. */
export async function credentials(databaseUrl: string): Promise<Record<string, string>> {
  const clientID = `bench-${Date.now()}-${(clients += 1)}`;
  await catalogue(['client', 'create', clientID, '--rate-limit', '0'], databaseUrl);
  const { stdout } = await catalogue(['token', 'issue', clientID, '--expires', '1d'], databaseUrl);
  return { 'X-Client-ID': clientID, Authorization: `Bearer ${stdout.trim()}` };
}

function plainPath({ limit, offset, fields, sort, facets, ...filters }: Question): string {
  const parameters = [
    ...(limit === PAGE ? [] : [`limit=${limit}`]),
    ...(offset === 0 ? [] : [`offset=${offset}`]),
    ...Object.entries(filters).map(([name, value]) => `${name}=${String(value)}`),
    ...(fields === undefined ? [] : [`fields=${fields.join(',')}`]),
    ...(sort === undefined ? [] : [`sort=${sort.down ? '-' : ''}${sort.by}`]),
    ...(typeof facets === 'string' ? [facets] : []),
  ];
  const path = facets ? '/facets/products' : '/products';
  return `${path}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`;
}

/** It knows pages, not offsets: those of the questions begin a page. */
function paginatePath({ limit, offset, fields, sort, ...filters }: Question): string {
  const { type, brandID, categoryID, priceMin, priceMax, inStock, q } = filters;
  const parameters = [
    `page=${offset / limit + 1}`,
    `limit=${limit}`,
    ...(type === undefined ? [] : [`filter.type=$in:${type.join(',')}`]),
    ...(brandID === undefined ? [] : [`filter.brandID=$in:${brandID.join(',')}`]),
    ...(categoryID === undefined ? [] : [`filter.categoryID=$eq:${categoryID}`]),
    ...(priceMin === undefined ? [] : [`filter.price=$gte:${priceMin}`]),
    ...(priceMax === undefined ? [] : [`filter.price=$lte:${priceMax}`]),
    ...(inStock === undefined ? [] : ['filter.stock=$gt:0']),
    ...(q === undefined ? [] : [`q=${q}`]),
    ...(fields === undefined ? [] : [`select=${fields.join(',')}`]),
    ...(sort === undefined ? [] : [`sortBy=${sort.by}:${sort.down ? 'DESC' : 'ASC'}`]),
    `sortBy=productID:${sort?.down ? 'DESC' : 'ASC'}`,
  ];
  return `/products?${parameters.join('&')}`;
}

/** Milliseconds that an answer may take. One that takes longer counts as this long. */
export const LONGEST_ANSWER = 30_000;

/** Whether the service gave a request up because its query took too long. */
export function isGivenUp(status: number, body: string): boolean {
  return status === 503 && body.includes('"errcode":"-3"');
}

/**
 * What a contender answers: the objects of the page as JSON, and the count if it has one. Undefined
 * if it takes too long.
 */
export async function ask(
  contender: Contender,
  question: Question,
): Promise<{ count: string; objects: string; etag: string | null } | undefined> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(contender.server.address + contender.path(question), {
      headers: contender.headers,
      signal: AbortSignal.timeout(LONGEST_ANSWER),
    });
    text = await response.text();
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') return undefined;
    throw error;
  }
  if (isGivenUp(response.status, text)) return undefined;
  const body = JSON.parse(text) as {
    response_data?: { count: string; objects: object[] };
    data?: object[];
    meta?: { totalItems: number };
  };
  const objects = body.response_data?.objects ?? body.data;
  if (!objects) throw new Error(`${contender.name}: ${response.status} ${text}`);
  return {
    count: body.response_data?.count ?? String(body.meta?.totalItems),
    objects: JSON.stringify(objects),
    etag: response.headers.get('etag'),
  };
}
