import { LRUCache } from 'lru-cache';
import type { Encoding } from '../../http/compression.js';

/** The body of a page as it was sent. */
export interface CachedPage {
  /** The version of the data that it shows. */
  readonly version: string;
  /** The number of matching objects, an integer as text. */
  readonly count: string;
  readonly body: Buffer;
  /** The content coding of the body; absent: none. */
  readonly encoding?: Encoding;
}

/** Bytes that an entry takes beside its body, estimated. */
const OVERHEAD = 1000;

/** LRU cache bounded in bytes. Callers must compare `version` before serving an entry. */
export class PageCache {
  private readonly pages: LRUCache<string, CachedPage> | undefined;

  /** @param maximum bytes of all entries; 0 disables the cache. An entry has an eighth at most. */
  constructor(maximum: number) {
    if (maximum === 0) return;
    this.pages = new LRUCache({
      maxSize: maximum,
      maxEntrySize: Math.max(1, Math.floor(maximum / 8)),
      sizeCalculation: ({ body }) => body.length + OVERHEAD,
    });
  }

  get(key: string): CachedPage | undefined {
    return this.pages?.get(key);
  }

  /** Replaces the entry of a key. A page that is too large removes it. */
  set(key: string, { version, count, body, encoding }: CachedPage): void {
    this.pages?.set(key, { version, count, body: ownMemory(body), encoding });
  }
}

/** Copies a small buffer, which would keep the larger piece of memory that it is part of. */
function ownMemory(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}
