import { join } from 'node:path';
import { catalogue, PROJECT, type Server, startServer } from './processes.js';
import { PAGE, type Question } from './scenarios.js';

/** One of those that are compared. */
export interface Contender {
  readonly name: string;
  /** Whether its answers have no count, and it has no filters and sorts. */
  readonly isBare?: true;
  readonly server: Server;
  readonly headers: Record<string, string>;
}

const SERVICE = 'this service';
export const UNCACHED = 'this service, no page cache';
export const BARE = 'node:http + pg, rows';

interface Definition extends Pick<Contender, 'name' | 'isBare'> {
  /** What is started of `contenders`, or the service with settings. */
  readonly started: string | NodeJS.ProcessEnv;
}

const DEFINITIONS: readonly Definition[] = [
  { name: SERVICE, started: {} },
  { name: UNCACHED, started: { PAGE_CACHE_MB: '0' } },
  { name: BARE, isBare: true, started: 'bare.js' },
  { name: 'NestJS + findAndCount', started: 'find-and-count.js' },
];

/** Whether it is the service, with or without a page cache. */
export function isOwn({ name }: Pick<Contender, 'name'>): boolean {
  return name === SERVICE || name === UNCACHED;
}

/** Starts the service and the others on one database: all of them, or those of the mix. */
export async function startContenders(databaseUrl: string, isMix: boolean): Promise<Contender[]> {
  const headers = await credentials(databaseUrl);
  const started: Contender[] = [];
  for (const { started: what, ...definition } of DEFINITIONS) {
    if (isMix && definition.isBare) continue;
    const isService = typeof what !== 'string';
    const server = await (isService
      ? startService(databaseUrl, what)
      : startProgram(what, databaseUrl));
    started.push({ ...definition, server, headers: isService ? headers : {} });
  }
  return started;
}

/** Starts a contender of `contenders`. */
function startProgram(file: string, databaseUrl: string): Promise<Server> {
  const path = join(import.meta.dirname, 'contenders', file);
  return startServer(path, [], { DATABASE_URL: databaseUrl });
}

/** Starts the service. */
export function startService(databaseUrl: string, settings: NodeJS.ProcessEnv): Promise<Server> {
  return startServer(join(PROJECT, 'dist', 'main.js'), ['start'], {
    DATABASE_URL: databaseUrl,
    PORT: '0',
    ADMIN_PORT: '0',
    HOST: '127.0.0.1',
    ...settings,
  });
}

/** Does work with the service without a page cache, on a database that nobody else uses. */
export async function withService<Result>(
  databaseUrl: string,
  work: (service: Contender) => Promise<Result>,
): Promise<Result> {
  const headers = await credentials(databaseUrl);
  const server = await startService(databaseUrl, { PAGE_CACHE_MB: '0' });
  return work({ name: UNCACHED, server, headers }).finally(() => server.stop());
}

let clients = 0;

/** Headers with the credentials of a new client without a rate limit. */
export async function credentials(databaseUrl: string): Promise<Record<string, string>> {
  const clientID = `bench-${Date.now()}-${(clients += 1)}`;
  await catalogue(['client', 'create', clientID, '--rate-limit', '0'], databaseUrl);
  const { stdout } = await catalogue(['token', 'issue', clientID, '--expires', '1d'], databaseUrl);
  return { 'X-Client-ID': clientID, Authorization: `Bearer ${stdout.trim()}` };
}

/** The path at which all contenders answer a question. */
export function pathOf({ limit, offset, sort, facets, ...filters }: Question): string {
  const parameters = [
    ...(limit === PAGE ? [] : [`limit=${limit}`]),
    ...(offset === 0 ? [] : [`offset=${offset}`]),
    ...Object.entries(filters).map(([name, value]) => `${name}=${String(value)}`),
    ...(sort === undefined ? [] : [`sort=${sort.down ? '-' : ''}${sort.by}`]),
    ...(typeof facets === 'string' ? [facets] : []),
  ];
  const path = facets ? '/facets/products' : '/products';
  return `${path}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`;
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
    response = await fetch(contender.server.address + pathOf(question), {
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
  };
  const objects = body.response_data?.objects;
  if (!objects) throw new Error(`${contender.name}: ${response.status} ${text}`);
  return {
    count: body.response_data?.count ?? '',
    objects: JSON.stringify(objects),
    etag: response.headers.get('etag'),
  };
}

/**
 * Throws if contenders answer a question differently: they would not be comparable. One that takes
 * too long is said on stderr.
 */
export async function mustAgree(
  name: string,
  question: Question,
  contenders: readonly Contender[],
): Promise<void> {
  let objects: string | undefined;
  let count: string | undefined;
  for (const contender of contenders) {
    const answer = await ask(contender, question);
    if (!answer) {
      console.error(`${contender.name} takes too long, and is not compared: ${name}`);
      continue;
    }
    objects ??= answer.objects;
    if (!contender.isBare) count ??= answer.count;
    if (answer.objects !== objects || (!contender.isBare && answer.count !== count)) {
      throw new Error(`${contender.name} answers otherwise: ${name}, ${pathOf(question)}`);
    }
  }
}
