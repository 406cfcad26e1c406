import { join } from 'node:path';
import { catalogue, PROJECT, type Server, startServer } from './processes.js';
import type { Question } from './scenarios.js';

/** One of those that are compared. */
export interface Contender {
  readonly name: string;
  /** Whether its answers carry the exact count. */
  readonly counts: boolean;
  readonly server: Server;
  readonly headers: Record<string, string>;
  /** The path at which it answers a question. */
  path(question: Question): string;
}

export const SERVICE = 'this service';
export const UNCACHED = 'this service, no page cache';
export const ROWS = 'node:http + pg, rows';
export const FIND_AND_COUNT = 'NestJS + findAndCount';
export const PAGINATE = 'nestjs-paginate';
const JSON_BY_POSTGRES = 'node:http + pg, JSON by PostgreSQL';

export const CONTENDER_NAMES = [
  SERVICE,
  UNCACHED,
  ROWS,
  `${ROWS}, count(*)`,
  JSON_BY_POSTGRES,
  `${JSON_BY_POSTGRES}, count(*)`,
  FIND_AND_COUNT,
  PAGINATE,
];

/** Starts them all on one database. */
export async function startContenders(databaseUrl: string): Promise<Contender[]> {
  const headers = await credentials(databaseUrl);
  const service = (environment: NodeJS.ProcessEnv): Promise<Server> =>
    startServer(join(PROJECT, 'dist', 'main.js'), ['start'], {
      DATABASE_URL: databaseUrl,
      PORT: '0',
      HOST: '127.0.0.1',
      ...environment,
    });
  const own = (program: string, ...args: string[]): Promise<Server> =>
    startServer(join(import.meta.dirname, 'contenders', program), args, {
      DATABASE_URL: databaseUrl,
    });
  const bare = { headers: {}, path: plainPath };
  return [
    { name: SERVICE, counts: true, headers, path: plainPath, server: await service({}) },
    {
      name: UNCACHED,
      counts: true,
      headers,
      path: plainPath,
      server: await service({ PAGE_CACHE_MB: '0' }),
    },
    { name: ROWS, counts: false, server: await own('bare.js', 'rows'), ...bare },
    {
      name: `${ROWS}, count(*)`,
      counts: true,
      server: await own('bare.js', 'rows', 'count'),
      ...bare,
    },
    {
      name: JSON_BY_POSTGRES,
      counts: false,
      server: await own('bare.js', 'json'),
      ...bare,
    },
    {
      name: `${JSON_BY_POSTGRES}, count(*)`,
      counts: true,
      server: await own('bare.js', 'json', 'count'),
      ...bare,
    },
    { name: FIND_AND_COUNT, counts: true, server: await own('find-and-count.js'), ...bare },
    {
      name: PAGINATE,
      counts: true,
      server: await own('paginate.js'),
      headers: {},
      path: paginatePath,
    },
  ];
}

async function credentials(databaseUrl: string): Promise<Record<string, string>> {
  const clientID = `bench-${Date.now()}`;
  await catalogue(['client', 'create', clientID, '--rate-limit', '0'], databaseUrl);
  const { stdout } = await catalogue(['token', 'issue', clientID, '--expires', '1d'], databaseUrl);
  return { 'X-Client-ID': clientID, Authorization: `Bearer ${stdout.trim()}` };
}

function plainPath({ limit, offset, type, fields }: Question): string {
  const parameters = [
    ...(limit === 50 ? [] : [`limit=${limit}`]),
    ...(offset === 0 ? [] : [`offset=${offset}`]),
    ...(type === undefined ? [] : [`type=${type}`]),
    ...(fields === undefined ? [] : [`fields=${fields.join(',')}`]),
  ];
  return `/products${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`;
}

/** It knows pages, not offsets: those of the scenarios begin a page. */
function paginatePath({ limit, offset, type, fields }: Question): string {
  const parameters = [
    `page=${offset / limit + 1}`,
    `limit=${limit}`,
    ...(type === undefined ? [] : [`filter.type=$eq:${type}`]),
    ...(fields === undefined ? [] : [`select=${fields.join(',')}`]),
  ];
  return `/products?${parameters.join('&')}`;
}

/** What a contender answers: the objects of the page as JSON, and the count if it has one. */
export async function ask(
  contender: Contender,
  question: Question,
): Promise<{ count: string; objects: string; etag: string | null }> {
  const response = await fetch(contender.server.address + contender.path(question), {
    headers: contender.headers,
  });
  const body = (await response.json()) as {
    response_data?: { count: string; objects: object[] };
    data?: object[];
    meta?: { totalItems: number };
  };
  const objects = body.response_data?.objects ?? body.data;
  if (!objects) throw new Error(`${contender.name}: ${response.status} ${JSON.stringify(body)}`);
  return {
    count: body.response_data?.count ?? String(body.meta?.totalItems),
    objects: JSON.stringify(objects),
    etag: response.headers.get('etag'),
  };
}
