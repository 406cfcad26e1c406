import { CatalogueConnectionError, CatalogueError, envelopeOf, errorOf } from './errors.js';
import { PageCache } from './page-cache.js';

/** What a client is made with. */
export interface CatalogueOptions {
  /** Where the service is, such as `https://catalogue.example.com`. */
  readonly url: string | URL;
  readonly clientID: string;
  readonly accessToken: string;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch;
  /**
   * How many pages are kept with their entity tags, those used last. The service sends a page again only
   * if it has changed. Default: none.
   */
  readonly cache?: number;
  /** How often a request is sent again if the service says when (`-2`, `-3`, `-4`, `-40`). Default: 3. */
  readonly maxRetries?: number;
  /**
   * Milliseconds after which a request is not sent again. An error whose `Retry-After` would exceed them is
   * thrown at once. Default: 90,000.
   */
  readonly maxRetryTime?: number;
  /** Called before each pause, which lasts `error.retryAfter` seconds. */
  readonly onRetry?: (error: CatalogueError) => void;
  /** Aborts all requests of the client. */
  readonly signal?: AbortSignal;
}

/** What a single call is made with. */
export interface CallOptions {
  /** Aborts the call, also while it waits, iterates or streams. */
  readonly signal?: AbortSignal | undefined;
}

/** The parameters of a list that say which part of it is sent, and of which fields. */
export interface ListQuery {
  readonly fields?: readonly string[];
  readonly limit?: number;
  readonly offset?: number | undefined;
  readonly after?: string | undefined;
}

/** A page of a list as the service sends it. */
export interface RawPage {
  readonly count: number;
  readonly objects: unknown[];
  readonly links: Readonly<Record<string, string>>;
  readonly updatedUntil: string | undefined;
}

/** An error that says when to try again, and for which that helps. */
const RETRIED: ReadonlySet<string> = new Set(['-2', '-3', '-4', '-40']);

/** Sends requests to a service. */
export class Transport {
  private readonly base: string;
  private readonly cache: PageCache | undefined;

  constructor(private readonly options: CatalogueOptions) {
    this.base = String(options.url).replace(/\/+$/, '');
    this.cache = options.cache ? new PageCache(options.cache) : undefined;
  }

  /** @throws CatalogueError, CatalogueConnectionError, or the reason of an abort */
  async page(path: string, query: object, { signal }: CallOptions = {}): Promise<RawPage> {
    const url = this.urlOf(path, query);
    const kept = this.cache?.get(url);
    const headers: Record<string, string> = kept ? { 'If-None-Match': kept.etag } : {};
    const response = await this.send(url, headers, signal);
    const isKept = kept !== undefined && response.status === 304;
    const body = isKept ? kept.body : await this.read(response.text(), signal);
    const link = isKept ? kept.link : response.headers.get('Link');
    const etag = response.headers.get('ETag');
    const { response_data } = envelopeOf(response, body);
    if (!response_data) throw errorOf(response, body);
    if (etag !== null) this.cache?.set(url, { etag, body, link });
    return {
      count: Number(response_data.count),
      objects: response_data.objects,
      links: linksOf(link, url),
      updatedUntil: updatedUntil(response),
    };
  }

  /** The response with a whole list as NDJSON, whose body was not read. */
  stream(path: string, query: object, { signal }: CallOptions = {}): Promise<Response> {
    return this.send(this.urlOf(path, query), { Accept: 'application/x-ndjson' }, signal);
  }

  /** Waits for a part of a body. */
  async read<T>(part: Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await part;
    } catch (cause) {
      this.throwIfAborted({ signal });
      throw new CatalogueConnectionError('The response ended early', { cause });
    }
  }

  /** Throws the reason if a call has been aborted. */
  throwIfAborted({ signal }: CallOptions): void {
    this.options.signal?.throwIfAborted();
    signal?.throwIfAborted();
  }

  private async send(
    url: string,
    headers: Readonly<Record<string, string>>,
    callSignal?: AbortSignal,
  ): Promise<Response> {
    const { clientID, accessToken, maxRetries = 3, maxRetryTime = 90_000, onRetry } = this.options;
    const signal = this.signalOf(callSignal);
    const init = {
      headers: { 'X-Client-ID': clientID, Authorization: `Bearer ${accessToken}`, ...headers },
      signal: signal ?? null,
    };
    const end = performance.now() + maxRetryTime;
    for (let retries = 0; ; retries += 1) {
      const response = await this.fetch(url, init);
      if (response.ok || response.status === 304) return response;
      const error = errorOf(response, await this.read(response.text(), callSignal));
      if (!isRetried(error) || retries >= maxRetries) throw error;
      const pause = error.retryAfter * 1000;
      if (performance.now() + pause > end) throw error;
      onRetry?.(error);
      await sleep(pause, signal);
    }
  }

  private async fetch(url: string, init: RequestInit): Promise<Response> {
    try {
      // Not as a method: a browser refuses its own fetch then.
      const send = this.options.fetch ?? fetch;
      return await send(url, init);
    } catch (cause) {
      init.signal?.throwIfAborted();
      throw new CatalogueConnectionError(`The catalogue at ${this.base} cannot be reached`, {
        cause,
      });
    }
  }

  private signalOf(signal: AbortSignal | undefined): AbortSignal | undefined {
    const { signal: own } = this.options;
    return own && signal ? AbortSignal.any([own, signal]) : (own ?? signal);
  }

  private urlOf(path: string, query: object): string {
    const pairs = Object.entries<unknown>({ ...query }).filter(([, value]) => value !== undefined);
    const texts = pairs.map(([name, value]): [string, string] => [name, textOf(name, value)]);
    const search = new URLSearchParams(texts).toString();
    return this.base + path + (search && `?${search}`);
  }
}

function isRetried(error: Error): error is CatalogueError & { retryAfter: number } {
  return (
    error instanceof CatalogueError && RETRIED.has(error.errcode) && error.retryAfter !== undefined
  );
}

/** Several values are separated by commas. The service has no way to write one that contains a comma. */
function textOf(name: string, value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  const texts = (value as unknown[]).map(String);
  const wrong = texts.find((text) => text.includes(','));
  if (wrong !== undefined) throw new TypeError(`${name}: '${wrong}' contains a comma`);
  return texts.join();
}

/** The URLs of other pages by relation (RFC 8288). */
function linksOf(header: string | null, url: string): Record<string, string> {
  const links = (header ?? '').matchAll(/<([^>]*)>; rel="([^"]*)"/g);
  return Object.fromEntries(
    [...links].map(([, target = '', relation = '']) => [relation, new URL(target, url).href]),
  );
}

export function updatedUntil(response: Response): string | undefined {
  return response.headers.get('X-Updated-Until') ?? undefined;
}

/** Rejects when the signal is aborted. */
function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = (): void => {
      clearTimeout(timer);
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- any reason is possible
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
