import { setTimeout as sleep } from 'node:timers/promises';
import createClient, { type Client } from 'openapi-fetch';
import type { paths } from './schema.js';

/** What the catalogue says when it refuses a request; docs/api.md of the service has the table. */
export interface Refusal {
  readonly ok: false;
  /** A public code such as `-23`. */
  readonly errcode: string;
  /** What to change. */
  readonly message: string;
}

/** A page of a list. */
export interface Page<T> {
  readonly ok: true;
  /** How many objects match in all. */
  readonly count: number;
  readonly objects: readonly T[];
}

interface Envelope<T> {
  readonly result: { readonly errcode: string; readonly msg: string };
  readonly response_data: { readonly count: string; readonly objects: readonly T[] };
}

/** The paths of lists. */
export type ListPath = Exclude<
  { [P in keyof paths]: ContentOf<P> extends Envelope<unknown> ? P : never }[keyof paths],
  `${string}{${string}`
>;

type ContentOf<P extends keyof paths> = paths[P] extends {
  get: { responses: { 200: { content: { 'application/json': infer Content } } } };
}
  ? Content
  : never;

/** The parameters of a list. */
export type QueryOf<P extends ListPath> = NonNullable<paths[P]['get']['parameters']['query']>;

/** One object of a list. */
export type ObjectOf<P extends ListPath> = ContentOf<P> extends Envelope<infer T> ? T : never;

/** A refusal in the middle of a walk, where there is no page to return it as. */
export class RefusedError extends Error {
  override name = 'RefusedError';

  constructor(readonly refusal: Refusal) {
    super(`${refusal.errcode}: ${refusal.message}`);
  }
}

export interface CatalogueOptions {
  readonly url: string;
  readonly clientID: string;
  readonly token: string;
  /** How often a request is sent at most, if it is answered with when to come back; 5 by default. */
  readonly tries?: number;
}

/** A client of the catalogue whose types are those of its OpenAPI document. */
export class Catalogue {
  private readonly client: Client<paths>;

  constructor({ url, clientID, token, tries = 5 }: CatalogueOptions) {
    this.client = createClient<paths>({
      baseUrl: url,
      headers: { 'X-Client-ID': clientID, Authorization: `Bearer ${token}` },
      // Several values are separated by commas.
      querySerializer: { array: { style: 'form', explode: false } },
      fetch: (request) => patiently(request, tries),
    });
  }

  /** One page of a list, or how it was refused. */
  async page<P extends ListPath>(
    path: P,
    query: QueryOf<P> = {},
  ): Promise<Page<ObjectOf<P>> | Refusal> {
    // The paths of lists have no parameters of their own, which is more than the types can tell.
    const get = this.client.GET as (
      path: ListPath,
      init: object,
    ) => Promise<{ data?: unknown; error?: unknown }>;
    const { data, error } = await get(path, { params: { query } });
    const { result, response_data: page } = (data ?? error) as Envelope<ObjectOf<P>>;
    if (data === undefined) return { ok: false, errcode: result.errcode, message: result.msg };
    return { ok: true, count: Number(page.count), objects: page.objects };
  }

  /**
   * All objects of a list, a page at a time. What changes meanwhile may be met twice or not at all:
   * a list that must be of one moment is asked for as NDJSON.
   *
   * @param limit objects of a page, 1 or more
   * @throws RefusedError
   */
  async *all<P extends ListPath>(
    path: P,
    query: Omit<QueryOf<P>, 'limit' | 'offset'>,
    limit = 1000,
  ): AsyncGenerator<ObjectOf<P>> {
    for (let offset = 0; ; offset += limit) {
      const page = await this.page(path, { ...query, limit, offset } as QueryOf<P>);
      if (!page.ok) throw new RefusedError(page);
      yield* page.objects;
      if (offset + limit >= page.count) return;
    }
  }
}

/** The statuses of what may pass: 429 of `-40`, and 503 of `-2`, `-3` and `-4`. */
const PASSING = [429, 503];

/** Sends a request again while it is refused for what may pass, each time after the seconds of `Retry-After`. */
async function patiently(request: Request, tries: number): Promise<Response> {
  for (let left = tries - 1; ; left -= 1) {
    const response = await fetch(request.clone());
    const seconds = Number(response.headers.get('Retry-After') ?? NaN);
    if (left <= 0 || !PASSING.includes(response.status) || Number.isNaN(seconds)) return response;
    await response.body?.cancel();
    await sleep(1000 * seconds);
  }
}
