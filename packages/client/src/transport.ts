import { dataOf, errorOf } from './envelope.js';
import { CatalogueConnectionError } from './errors.js';
import type { Page } from './list.js';
import { PageCache } from './page-cache.js';
import { queryStringOf } from './query.js';
import { type RetryOptions, sendWithRetries } from './retry.js';

/** What a client is made with. */
export interface CatalogueOptions extends RetryOptions {
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
  /** Aborts all requests of the client. */
  readonly signal?: AbortSignal;
}

/** What a single call is made with. */
export interface CallOptions {
  /** Aborts the call, also while it waits, iterates or streams. */
  readonly signal?: AbortSignal | undefined;
}

/** Sends requests to a service. */
export class Transport {
  /** Whether the service has refused the page size of iterations, as more than its `MAX_LIMIT`. */
  isPageSizeRefused = false;
  private readonly base: string;
  private readonly cache: PageCache | undefined;

  constructor(private readonly options: CatalogueOptions) {
    this.base = String(options.url).replace(/\/+$/, '');
    this.cache = options.cache ? new PageCache(options.cache) : undefined;
  }

  /** @throws CatalogueError, CatalogueConnectionError, or the reason of an abort */
  async page(path: string, query: object, { signal }: CallOptions = {}): Promise<Page<unknown>> {
    const url = this.urlOf(path, query);
    const kept = this.cache?.get(url);
    const headers: Record<string, string> = kept ? { 'If-None-Match': kept.etag } : {};
    const response = await this.send(url, headers, signal);
    const isKept = kept !== undefined && response.status === 304;
    const body = isKept ? kept.body : await this.read(response.text(), signal);
    const link = isKept ? kept.link : response.headers.get('Link');
    const etag = response.headers.get('ETag');
    const { count, objects } = dataOf(response, body);
    if (etag !== null) this.cache?.set(url, { etag, body, link });
    return {
      count: Number(count),
      objects,
      links: this.linksOf(link, url),
      updatedUntil: updatedUntil(response),
    };
  }

  /** The response with a list as NDJSON, whose body was not read. */
  stream(path: string, query: object, { signal }: CallOptions = {}): Promise<Response> {
    return this.send(this.urlOf(path, query), { Accept: 'application/x-ndjson' }, signal);
  }

  /**
   * Waits for a part of a body, or for an abort: in Node.js 20, a read that is pending when its request is
   * aborted may never settle.
   */
  async read<T>(part: Promise<T>, signal?: AbortSignal): Promise<T> {
    const signals = [this.options.signal, signal].filter((each) => each !== undefined);
    try {
      return await unlessAborted(part, signals);
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

  private send(
    url: string,
    headers: Readonly<Record<string, string>>,
    callSignal?: AbortSignal,
  ): Promise<Response> {
    const { clientID, accessToken } = this.options;
    const signal = this.signalOf(callSignal);
    const init = {
      headers: { 'X-Client-ID': clientID, Authorization: `Bearer ${accessToken}`, ...headers },
      signal: signal ?? null,
    };
    return sendWithRetries(
      () => this.fetch(url, init),
      async (response) => errorOf(response, await this.read(response.text(), callSignal)),
      this.options,
      signal,
    );
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
    return this.base + path + queryStringOf(query);
  }

  /**
   * The URLs of other pages by relation (RFC 8288). The service does not know the path that a proxy serves
   * it at: a target that begins with `/` is below the base.
   */
  private linksOf(header: string | null, url: string): Record<string, string> {
    const links = (header ?? '').matchAll(/<([^>]*)>; rel="([^"]*)"/g);
    return Object.fromEntries(
      [...links].map(([, target = '', relation = '']) => [
        relation,
        target.startsWith('/') ? this.base + target : new URL(target, url).href,
      ]),
    );
  }
}

/** Rejects with its reason when a signal is aborted first. */
function unlessAborted<T>(work: Promise<T>, signals: readonly AbortSignal[]): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- any reason is possible
      reject(signals.find(({ aborted }) => aborted)?.reason);
    };
    if (signals.some(({ aborted }) => aborted)) abort();
    for (const signal of signals) signal.addEventListener('abort', abort);
    void work.then(resolve, reject).finally(() => {
      for (const signal of signals) signal.removeEventListener('abort', abort);
    });
  });
}

export function updatedUntil(response: Response): string | undefined {
  return response.headers.get('X-Updated-Until') ?? undefined;
}
