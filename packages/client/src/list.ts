import { hasErrcode } from './envelope.js';
import type { CallOptions, Transport } from './transport.js';

/** A promise whose work begins when it is first waited for. */
export abstract class Lazy<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Promise';
  private result: Promise<T> | undefined;

  protected abstract begin(): Promise<T>;

  then<A = T, B = never>(
    fulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.result ??= this.begin();
    return this.result.then(fulfilled, rejected);
  }

  catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, rejected);
  }

  finally(settled?: (() => void) | null): Promise<T> {
    return this.then().finally(settled);
  }
}

/** The parameters of a list that say which part of it is sent, and of which fields. */
export interface ListQuery {
  readonly fields?: readonly string[] | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly after?: string | undefined;
}

/** A page of a list. */
export interface Page<T> {
  /**
   * The number of all objects that match. The service sends a text, which no parser of JSON rounds; as a
   * number it is exact up to 2^53 - 1, which is also the largest `offset`.
   */
  readonly count: number;
  readonly objects: T[];
  /** The URLs of other pages, without credentials, by relation: `next`, `prev`, `first`, `last`, `after`. */
  readonly links: Readonly<Record<string, string>>;
  /** Every change made before this time is in the response. */
  readonly updatedUntil: string | undefined;
}

/** Objects of a page of an iteration, unless `limit` is given. */
const PAGE_SIZE = 1000;

/**
 * A list. `await` sends one request and gives a page. `for await` gives all objects, page after page, each
 * of which begins behind the last object of the one before; `limit` is the size of these pages.
 */
export class List<T> extends Lazy<Page<T>> implements AsyncIterable<T> {
  constructor(
    private readonly transport: Transport,
    private readonly path: string,
    private readonly identifier: string,
    private readonly query: ListQuery,
    private readonly options: CallOptions = {},
  ) {
    super();
  }

  protected begin(): Promise<Page<T>> {
    return this.page(this.query) as Promise<Page<T>>;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const { identifier } = this;
    const { fields } = this.query;
    // If none are given, objects have all fields.
    const isHidden = !!fields?.length && !fields.includes(identifier);
    const query = isHidden ? { ...this.query, fields: [...fields, identifier] } : this.query;
    let page = await this.firstPage(query);
    const { isPageSizeRefused } = this.transport;
    const limit = query.limit ?? (isPageSizeRefused ? page.objects.length : PAGE_SIZE);
    let last: string[] = [];
    for (;;) {
      const objects = page.objects as Record<string, string>[];
      const known = new Set(last);
      last = objects.map((object) => object[identifier] ?? '');
      for (const [at, object] of objects.entries()) {
        if (known.has(last[at] ?? '')) continue;
        if (isHidden) Reflect.deleteProperty(object, identifier);
        yield object as T;
        this.transport.throwIfAborted(this.options);
      }
      if (objects.length === 0 || objects.length < limit) return;
      page = await this.behind(last, { ...query, offset: undefined, limit });
    }
  }

  /** The first page of an iteration. Where an operator allows fewer than the page size, it has the default. */
  private async firstPage(query: ListQuery): Promise<Page<unknown>> {
    const { transport } = this;
    if (query.limit !== undefined || transport.isPageSizeRefused) return this.page(query);
    try {
      return await this.page({ ...query, limit: PAGE_SIZE });
    } catch (error) {
      if (!hasErrcode(error, '-26')) throw error;
    }
    // It fails, too, if another number was out of range.
    const page = await this.page(query);
    transport.isPageSizeRefused = true;
    return page;
  }

  /**
   * The page behind the last of these objects. If that has been deleted, the page behind an earlier one,
   * which begins with some of them.
   *
   * @param identifiers one or more
   */
  private async behind(identifiers: readonly string[], query: ListQuery): Promise<Page<unknown>> {
    for (let back = 1; ; back *= 2) {
      const at = Math.max(0, identifiers.length - back);
      try {
        return await this.page({ ...query, after: identifiers[at] });
      } catch (error) {
        if (at === 0 || !hasErrcode(error, '-31')) throw error;
      }
    }
  }

  private page(query: ListQuery): Promise<Page<unknown>> {
    return this.transport.page(this.path, query, this.options);
  }
}
