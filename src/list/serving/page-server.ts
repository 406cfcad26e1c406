import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import { encodingOf } from '../../http/compression.js';
import { type Answer, pageAnswer } from '../../http/envelope.js';
import { traced } from '../../http/request-trace.js';
import { nameOf } from '../../resource/resource.js';
import type { ObjectLookup } from '../listing/listing.js';
import { ObjectReader } from '../reading/object-reader.js';
import type { PreparedPage, ReadPage } from '../reading/prepared-list.js';
import { hasState, hasTag, isTagged, objectTag, setState } from './entity-tag.js';
import { setLinks } from './link.js';
import { PageCache } from './page-cache.js';
import { ReadLimit } from './read-limit.js';

/** Answers with what has an envelope: a page of a list, facet counts, or a single object. */
@Injectable()
export class PageServer {
  constructor(
    private readonly cache: PageCache,
    private readonly readLimit: ReadLimit,
    private readonly objects: ObjectReader,
  ) {}

  /** Reads the page from the database only if neither the client nor the cache has the current version. */
  async answer(
    prepared: PreparedPage,
    request: CatalogueRequest,
    response: Response,
  ): Promise<Answer> {
    if (!(await isTagged(prepared, this.readLimit, request, response))) {
      return this.read(prepared, request, response);
    }
    const { key } = prepared;
    const { 'if-none-match': ifNoneMatch, 'accept-encoding': acceptEncoding } = request.headers;
    const cacheKey = `${key} ${encodingOf(acceptEncoding) ?? ''}`;
    const cached = this.cache.get(cacheKey);
    if (ifNoneMatch !== undefined || cached) {
      const state = await traced(request, 'version', () => prepared.state());
      if (hasState(request, state, key)) {
        setState(response, state, key);
        return { status: 304 };
      }
      if (cached?.version === state.version) {
        this.cache.requests.hits += 1;
        setState(response, state, key);
        setRows(prepared, cached, request, response);
        return { status: 200, body: cached.body, encoding: cached.encoding };
      }
    }
    this.cache.requests.misses += 1;
    return this.read(prepared, request, response, cacheKey);
  }

  /**
   * An object is read for every request, since its lookup costs no more than that of a version. `304` saves its
   * transfer.
   */
  async answerObject(
    lookup: ObjectLookup,
    request: CatalogueRequest,
    response: Response,
  ): Promise<Answer> {
    const resource = nameOf(lookup.repository.metadata);
    const page = await this.readLimit.run({ resource }, request, response, () =>
      this.objects.read(lookup, request.client),
    );
    const tag = objectTag(page.objects);
    response.setHeader('ETag', tag);
    if (hasTag(request, tag)) return { status: 304 };
    request.rows = 1;
    return pageAnswer(page, request);
  }

  /** @param cacheKey absent for a page without an entity tag */
  private async read(
    prepared: PreparedPage,
    request: CatalogueRequest,
    response: Response,
    cacheKey?: string,
  ): Promise<Answer> {
    const page = await this.readLimit.run(prepared, request, response, () => prepared.read());
    request.plan = page.plan;
    const answer = await pageAnswer(page, request);
    if (cacheKey !== undefined) {
      this.cache.set(cacheKey, { ...page, ...answer });
      setState(response, page, prepared.key);
    }
    setRows(prepared, page, request, response);
    return answer;
  }
}

/** Sets `request.rows`, and for a page of a list `Link`. */
function setRows(
  { place }: PreparedPage,
  page: Pick<ReadPage, 'count' | 'rows' | 'last'>,
  request: CatalogueRequest,
  response: Response,
): void {
  request.rows = Number(page.rows);
  if (place) setLinks(place, page, request, response);
}
