import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { CatalogueRequest } from '../../http/request.js';
import { type Encoding, formOf } from '../../http/negotiation.js';
import { type Answer, pageAnswer } from '../../http/envelope.js';
import { traced } from '../../http/observation.js';
import { nameOf } from '../../resource/resource.js';
import { Settings } from '../../settings/settings.js';
import { ObjectReader } from '../reading/object-reader.js';
import type { PreparedPage, ReadPage, VersionedPage } from '../reading/prepared-list.js';
import type { VisibleObject } from '../visibility/visible-listing.js';
import { ChangeWait, entityTag, hasTag, objectTag, setState, tagOf } from './conditional.js';
import { link } from './link.js';
import { ReadLimit } from './read-limit.js';

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

/** Answers with what has an envelope: a page of a list, facet counts, or a single object. */
@Injectable()
export class PageServer {
  constructor(
    private readonly cache: PageCache,
    private readonly readLimit: ReadLimit,
    private readonly objects: ObjectReader,
    private readonly changeWait: ChangeWait,
  ) {}

  /** Reads the page from the database only if neither the client nor the cache has the current version. */
  async answer(prepared: PreparedPage, request: CatalogueRequest): Promise<Answer> {
    if (!prepared.isVersioned) return this.read(prepared, request);
    const { key, isPartial } = prepared;
    const { 'if-none-match': ifNoneMatch } = request.headers;
    const cacheKey = `${key} ${formOf(request).encoding ?? ''}`;
    const cached = this.cache.get(cacheKey);
    if (ifNoneMatch !== undefined || cached) {
      const state = await traced(request, 'version', () => prepared.state());
      const isCached = cached?.version === state.version;
      const known = isCached ? cached.tag : undefined;
      const tag = isPartial ? known : entityTag(state, key);
      if (tag !== undefined && hasTag(request, tag))
        return this.changeWait.unchanged(prepared, state, tag, request);
      if (isCached) {
        const later = await this.changeWait.answer(prepared, cached, request);
        if (later) return later;
        this.cache.requests.hits += 1;
        setState(prepared, request, state, tag);
        setRows(prepared, cached, request);
        return { status: 200, body: cached.body, encoding: cached.encoding };
      }
    }
    this.cache.requests.misses += 1;
    return this.read(prepared, request, cacheKey);
  }

  /**
   * An object is read for every request, since its lookup costs no more than that of a version. `304` saves its
   * transfer.
   */
  async answerObject(object: VisibleObject, request: CatalogueRequest): Promise<Answer> {
    const resource = nameOf(object.lookup.repository.metadata);
    const page = await this.readLimit.run(resource, request, () => this.objects.read(object));
    const tag = objectTag(page.objects);
    request.res.setHeader('ETag', tag);
    if (hasTag(request, tag)) return { status: 304 };
    request.rows = 1;
    return pageAnswer(page, request);
  }

  /** @param cacheKey absent for a page without an entity tag */
  private async read(
    prepared: PreparedPage,
    request: CatalogueRequest,
    cacheKey?: string,
  ): Promise<Answer> {
    const page = await this.readLimit.run(prepared.resource, request, () => prepared.read());
    const later = cacheKey && (await this.changeWait.answer(prepared, page, request));
    if (later) return later;
    request.plan = page.plan;
    const answer = await pageAnswer(page, request);
    if (cacheKey !== undefined) {
      const tag = tagOf(prepared, page);
      const { version, count, rows, last } = page;
      const { body, encoding } = answer;
      this.cache.set(cacheKey, { version, count, rows, last, body, encoding, tag });
      setState(prepared, request, page, tag);
      if (hasTag(request, tag)) return { status: 304 };
    }
    setRows(prepared, page, request);
    return answer;
  }
}

/** Sets `request.rows`, and for a page of a list `Link`. */
function setRows(
  { place }: PreparedPage,
  { count, rows, last }: Pick<ReadPage, 'count' | 'rows' | 'last'>,
  request: CatalogueRequest,
): void {
  request.rows = Number(rows);
  if (!place) return;
  const links = link(request, { count: Number(count), rows: request.rows, last, ...place });
  if (links !== undefined) request.res.setHeader('Link', links);
}

/** The body, or a copy of it if it is part of a larger allocation, which it would keep in memory. */
function ownOf(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}
