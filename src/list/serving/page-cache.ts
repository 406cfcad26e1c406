import type { Encoding } from '../../http/compression.js';

/** The body of a page as it was sent. */
export interface CachedPage {
  /** The version of the data that it shows. */
  readonly version: string;
  /** How many objects match, an integer as text. */
  readonly count: string;
  readonly body: Buffer;
  /** What the body is in; nothing unless given. */
  readonly encoding?: Encoding;
}

/** Bytes that an entry takes beside its body, about. */
const OVERHEAD = 1000;

/** The pages served last, within a bound on their memory. Who takes one out checks its version. */
export class PageCache {
  /** In the order of their last use. */
  private readonly pages = new Map<string, CachedPage>();
  private size = 0;

  /** @param bound bytes; 0 keeps nothing */
  constructor(private readonly bound: number) {}

  get(key: string): CachedPage | undefined {
    const page = this.pages.get(key);
    if (page) {
      this.pages.delete(key);
      this.pages.set(key, page);
    }
    return page;
  }

  set(key: string, page: CachedPage): void {
    this.delete(key);
    // One page shall not drive all others out.
    if (cost(page) > this.bound / 8) return;
    this.pages.set(key, { ...page, body: ownMemory(page.body) });
    this.size += cost(page);
    for (const oldest of this.pages.keys()) {
      if (this.size <= this.bound) break;
      this.delete(oldest);
    }
  }

  private delete(key: string): void {
    const page = this.pages.get(key);
    if (!page) return;
    this.pages.delete(key);
    this.size -= cost(page);
  }
}

/** A small buffer is part of a larger piece of memory, all of which would be kept with it. */
function ownMemory(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}

function cost({ body }: CachedPage): number {
  return body.length + OVERHEAD;
}
