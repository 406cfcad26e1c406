import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Encoding } from '../../http/negotiation.js';
import { Settings } from '../../settings/settings.js';
import type { VersionedPage } from '../reading/prepared-list.js';

/** A page as it is sent. */
interface CachedPage extends Pick<VersionedPage, 'version' | 'count' | 'rows' | 'last'> {
  readonly body: Buffer;
  /** Its entity tag. */
  readonly tag: string;
  /** The content coding of the body; absent: none. */
  readonly encoding?: Encoding;
}

/** Estimated bytes of an entry besides its body. */
const OVERHEAD = 1000;

/** LRU cache bounded in bytes. Callers must compare `version` before serving an entry. */
@Injectable()
export class PageCache {
  /** How many pages were sent from it, and how many had to be read. */
  readonly requests = { hits: 0, misses: 0 };
  private readonly pages: LRUCache<string, CachedPage>;

  constructor({ pageCache: maximum }: Settings) {
    this.pages = new LRUCache({
      // LRUCache refuses 0. No entry fits into one byte.
      maxSize: Math.max(1, maximum),
      maxEntrySize: Math.max(1, Math.floor(maximum / 8)),
      sizeCalculation: ({ body }) => body.length + OVERHEAD,
    });
  }

  /** Estimated bytes of all entries. */
  get bytes(): number {
    return this.pages.calculatedSize;
  }

  get(key: string): CachedPage | undefined {
    return this.pages.get(key);
  }

  /** Sets the entry of a key. If the page is too large, it removes the entry instead. */
  set(key: string, { version, count, rows, last, body, tag, encoding }: CachedPage): void {
    this.pages.set(key, { version, count, rows, last, body: ownOf(body), tag, encoding });
  }
}

/** The body, or a copy of it if it is part of a larger allocation, which it would keep in memory. */
function ownOf(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}
