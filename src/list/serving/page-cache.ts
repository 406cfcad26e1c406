import { LRUCache } from 'lru-cache';
import type { Encoding } from '../../http/compression.js';
import type { VersionedPage } from '../reading/prepared-list.js';

/** A page as it is sent. */
interface CachedPage extends Pick<VersionedPage, 'version' | 'count' | 'rows' | 'last'> {
  readonly body: Buffer;
  /** The content coding of the body; absent: none. */
  readonly encoding?: Encoding;
}

/** Estimated bytes of an entry besides its body. */
const OVERHEAD = 1000;

/** LRU cache bounded in bytes. Callers must compare `version` before serving an entry. */
export class PageCache {
  /** How many pages were sent from it, and how many had to be read. */
  readonly requests = { hits: 0, misses: 0 };
  private readonly pages: LRUCache<string, CachedPage> | undefined;

  /** @param maximum bytes of all entries; one entry may use an eighth of them. 0 disables the cache. */
  constructor(maximum: number) {
    if (maximum === 0) return;
    this.pages = new LRUCache({
      maxSize: maximum,
      maxEntrySize: Math.max(1, Math.floor(maximum / 8)),
      sizeCalculation: ({ body }) => body.length + OVERHEAD,
    });
  }

  /** Estimated bytes of all entries. */
  get bytes(): number {
    return this.pages?.calculatedSize ?? 0;
  }

  get(key: string): CachedPage | undefined {
    return this.pages?.get(key);
  }

  /** Sets the entry of a key. If the page is too large, it removes the entry instead. */
  set(key: string, { version, count, rows, last, body, encoding }: CachedPage): void {
    this.pages?.set(key, { version, count, rows, last, body: ownMemory(body), encoding });
  }
}

/** Copies a buffer that is part of a larger allocation, which it would keep in memory. */
function ownMemory(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}
