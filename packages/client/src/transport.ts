import { Exchange, throwIfAborted } from './exchange.js';
import { dataOf, errorOf, notOfTheService } from './envelope.js';
import type { Page } from './list.js';
import { queryStringOf } from './query.js';
import { type RetryOptions, sleep, withRetries } from './retry.js';

/** Milliseconds, as of Stripe's client. The service and a proxy before it give up earlier. */
const TIMEOUT = 80_000;

/** What a client is made with. */
export interface CatalogueOptions extends RetryOptions {
  /** Where the service is, such as `https://catalogue.example.com`. */
  readonly url: string | URL;
  readonly clientID: string;
  /** A public client needs none: then it is named in the URL alone, and caches may keep its answers for seconds. */
  readonly accessToken?: string | undefined;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch;
  /**
   * How many pages are kept with their entity tags, those used last. The service sends a page again only
   * if it has changed. Default: none.
   */
  readonly cache?: number;
  /**
   * Milliseconds without data after which a request fails, be it before its response or between two parts
   * of it. `Infinity` for none. Default: 80,000.
   */
  readonly timeout?: number;
  /** Aborts all requests of the client. */
  readonly signal?: AbortSignal;
}

/** What a single call is made with. */
export interface CallOptions {
  /** Aborts the call, also while it waits, iterates or streams. */
  readonly signal?: AbortSignal | undefined;
}

/** A response whose body was not read. */
export interface Opened {
  readonly exchange: Exchange;
  readonly response: Response;
}

/** Sends requests to a service. */
export class Transport {
  /** Whether the service has refused the page size of iterations, as more than its `MAX_LIMIT`. */
  isPageSizeRefused = false;
  private readonly base: string;
  private readonly cache: PageCache | undefined;
  private readonly options: Omit<CatalogueOptions, 'accessToken'>;
  /** Neither JSON.stringify nor util.inspect shows it. */
  readonly #credentials: Readonly<Record<string, string>> | undefined;

  constructor({ accessToken, ...options }: CatalogueOptions) {
    if (accessToken) this.#credentials = credentialsOf(options.clientID, accessToken);
    this.options = options;
    this.base = baseOf(options.url);
    const { timeout = TIMEOUT } = options;
    if (!(timeout > 0)) throw new TypeError(`timeout: ${timeout} is not above 0`);
    this.cache = options.cache ? new PageCache(options.cache) : undefined;
  }

  /** @throws CatalogueError, CatalogueConnectionError, or the reason of an abort */
  async page(path: string, query: object, call: CallOptions = {}): Promise<Page<unknown>> {
    const url = this.urlOf(path, query);
    const kept = this.cache?.get(url);
    const headers: Record<string, string> = kept ? { 'If-None-Match': kept.etag } : {};
    return this.send(url, headers, call, async ({ exchange, response }) => {
      const text = await exchange.text(response);
      const isKept = kept !== undefined && response.status === 304;
      const body = isKept ? kept.body : text;
      const link = isKept ? kept.link : response.headers.get('Link');
      const etag = response.headers.get('ETag');
      const { count, objects } = dataOf(response, body);
      if (etag !== null) this.cache?.set(url, { etag, body, link });
      return {
        count: Number(count),
        objects,
        links: linksOf(link, url),
        updatedUntil: updatedUntil(response),
      };
    });
  }

  /** The response with a list as NDJSON, or a 304. A list has the header `X-Total-Count`. */
  async stream(
    path: string,
    query: object,
    call: CallOptions = {},
    sent: Readonly<Record<string, string>> = {},
  ): Promise<Opened> {
    const headers = { Accept: 'application/x-ndjson', ...sent };
    return this.send(this.urlOf(path, query), headers, call, (opened) => {
      const { exchange, response } = opened;
      if (response.status === 304 || response.headers.has('X-Total-Count'))
        return Promise.resolve(opened);
      response.body?.cancel().catch(() => undefined);
      exchange.end();
      throw notOfTheService(response);
    });
  }

  /** Waits, at most until the call is aborted. */
  async pause(milliseconds: number, call: CallOptions): Promise<void> {
    if (milliseconds > 0) await sleep(milliseconds, this.signalsOf(call));
  }

  /** Throws the reason if a call has been aborted. */
  throwIfAborted(call: CallOptions): void {
    throwIfAborted(this.signalsOf(call));
  }

  /** Sends a request and reads its response. Does both again while the error is temporary. */
  private send<T>(
    url: string,
    headers: Readonly<Record<string, string>>,
    call: CallOptions,
    read: (opened: Opened) => Promise<T>,
  ): Promise<T> {
    const signals = this.signalsOf(call);
    return withRetries(
      async () => read(await this.open(url, headers, signals)),
      this.options,
      signals,
    );
  }

  private async open(
    url: string,
    headers: Readonly<Record<string, string>>,
    signals: readonly AbortSignal[],
  ): Promise<Opened> {
    // Not as a method: a browser refuses its own fetch then.
    const { fetch: send = fetch, timeout = TIMEOUT } = this.options;
    const exchange = new Exchange(this.base, timeout, signals);
    const response = await exchange.open(async (signal) =>
      send(url, { headers: { ...this.#credentials, ...headers }, signal }),
    );
    if (response.ok || response.status === 304) return { exchange, response };
    throw errorOf(response, await exchange.text(response));
  }

  private signalsOf({ signal }: CallOptions): readonly AbortSignal[] {
    return [this.options.signal, signal].filter((each) => !!each);
  }

  private urlOf(path: string, query: object): string {
    const named = this.#credentials ? undefined : { clientID: this.options.clientID };
    return this.base + path + queryStringOf({ ...query, ...named });
  }
}

/**
 * The URL without the slashes at its end.
 *
 * @throws TypeError without the URL, which may contain a password: `fetch` would fail as if nothing was reached
 */
function baseOf(url: string | URL): string {
  const href = URL.canParse(String(url)) ? new URL(url).href : '';
  // An @ ends a user name and password. In a path it is written %40.
  if (/^http[^@]+$/.test(href)) return href.replace(/\/+$/, '');
  throw new TypeError('url must be of http, without @');
}

/** @throws TypeError without a cause: that of `Headers` would show the token */
function credentialsOf(clientID: string, accessToken: string): Record<string, string> {
  const headers = { 'X-Client-ID': clientID, Authorization: `Bearer ${accessToken}` };
  try {
    new Headers(headers);
    return headers;
  } catch {
    throw new TypeError('clientID or accessToken cannot be in a header');
  }
}

/** The URLs of other pages by relation (RFC 8288). */
function linksOf(header: string | null, url: string): Record<string, string> {
  const links = (header ?? '').matchAll(/<([^>]*)>; rel="([^"]*)"/g);
  return Object.fromEntries(
    [...links].map(([, target = '', relation = '']) => [relation, new URL(target, url).href]),
  );
}

export function totalOf(response: Response): number {
  return Number(response.headers.get('X-Total-Count'));
}

export function updatedUntil(response: Response): string | undefined {
  return response.headers.get('X-Updated-Until') ?? undefined;
}

/** A page as it was received. */
interface KeptPage {
  readonly etag: string;
  readonly body: string;
  readonly link: string | null;
}

/** The pages that were used last, by URL, in the order of their use. */
class PageCache extends Map<string, KeptPage> {
  /** @param maximum the number of pages that are kept */
  constructor(private readonly maximum: number) {
    super();
  }

  /** Keeps a page that was used, be it new or not. */
  override set(url: string, page: KeptPage): this {
    this.delete(url);
    super.set(url, page);
    const [oldest = ''] = this.keys();
    if (this.size > this.maximum) this.delete(oldest);
    return this;
  }
}
