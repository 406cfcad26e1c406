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

interface Definition extends Omit<Contender, 'server' | 'headers'> {
  /** What is started, with the arguments after it; the service with settings. */
  readonly program: readonly string[];
  readonly settings?: NodeJS.ProcessEnv;
}

const bare = (name: string, form: string, ...more: string[]): Definition => ({
  name,
  counts: more.includes('count'),
  path: plainPath,
  program: ['bare.js', form, ...more],
});

const DEFINITIONS: readonly Definition[] = [
  { name: SERVICE, counts: true, path: plainPath, program: [], settings: {} },
  { name: UNCACHED, counts: true, path: plainPath, program: [], settings: { PAGE_CACHE_MB: '0' } },
  bare(ROWS, 'rows'),
  bare(`${ROWS}, count(*)`, 'rows', 'count'),
  bare(JSON_BY_POSTGRES, 'json'),
  bare(`${JSON_BY_POSTGRES}, count(*)`, 'json', 'count'),
  { name: FIND_AND_COUNT, counts: true, path: plainPath, program: ['find-and-count.js'] },
  { name: PAGINATE, counts: true, path: paginatePath, program: ['paginate.js'] },
];

export const CONTENDER_NAMES = DEFINITIONS.map(({ name }) => name);

/** Starts the service and whichever of the others are wanted on one database. */
export async function startContenders(
  databaseUrl: string,
  wanted: readonly string[] = CONTENDER_NAMES,
): Promise<Contender[]> {
  const headers = await credentials(databaseUrl);
  const started: Contender[] = [];
  for (const { name, counts, path, program, settings } of DEFINITIONS) {
    if (!settings && !wanted.includes(name)) continue;
    const [file = '', ...args] = program;
    const server = settings
      ? await startServer(join(PROJECT, 'dist', 'main.js'), ['start'], {
          DATABASE_URL: databaseUrl,
          PORT: '0',
          ADMIN_PORT: '0',
          HOST: '127.0.0.1',
          ...settings,
        })
      : await startServer(join(import.meta.dirname, 'contenders', file), args, {
          DATABASE_URL: databaseUrl,
        });
    started.push({ name, counts, path, server, headers: settings ? headers : {} });
  }
  return started;
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
