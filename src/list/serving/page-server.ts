import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import { encodingOf } from '../../http/compression.js';
import type { Answer } from '../../http/envelope.js';
import { pageAnswer } from '../../http/page-answer.js';
import { traced } from '../../http/request-trace.js';
import type { PreparedPage, ReadPage } from '../reading/prepared-list.js';
import { entityTag, matchesTag } from './entity-tag.js';
import { setLinks, setState } from './list-headers.js';
import { PageCache } from './page-cache.js';
import { ReadLimit } from './read-limit.js';
import { isVersioned } from './versioned.js';

/**
 * Answers with a page of a list, or with facet counts. It reads them from the database only if neither the
 * client nor the cache has the current version.
 */
@Injectable()
export class PageServer {
  constructor(
    private readonly cache: PageCache,
    private readonly readLimit: ReadLimit,
  ) {}

  async answer(
    prepared: PreparedPage,
    request: CatalogueRequest,
    response: Response,
  ): Promise<Answer> {
    return (await isVersioned(prepared, this.readLimit, request, response))
      ? this.answerVersioned(prepared, request, response)
      : this.answerUnversioned(prepared, request, response);
  }

  private async answerVersioned(
    prepared: PreparedPage,
    request: CatalogueRequest,
    response: Response,
  ): Promise<Answer> {
    const { key } = prepared;
    const { 'if-none-match': ifNoneMatch, 'accept-encoding': acceptEncoding } = request.headers;
    const cacheKey = `${key} ${encodingOf(acceptEncoding) ?? ''}`;
    const cached = this.cache.get(cacheKey);
    if (ifNoneMatch !== undefined || cached) {
      const state = await traced(request, 'version', () => prepared.state());
      if (ifNoneMatch !== undefined && matchesTag(ifNoneMatch, entityTag(state.version, key))) {
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
    const page = await this.readLimit.runFor(prepared, request, response, () => prepared.read());
    request.plan = page.plan;
    const answer = await pageAnswer(page, request);
    this.cache.set(cacheKey, { ...page, ...answer });
    setState(response, page, key);
    setRows(prepared, page, request, response);
    return answer;
  }

  private async answerUnversioned(
    prepared: PreparedPage,
    request: CatalogueRequest,
    response: Response,
  ): Promise<Answer> {
    const page = await this.readLimit.runFor(prepared, request, response, () => prepared.read());
    request.plan = page.plan;
    setRows(prepared, page, request, response);
    return pageAnswer(page, request);
  }
}

/** Sets `request.rows`, and for a page of a list `Link`. */
function setRows(
  prepared: PreparedPage,
  page: Pick<ReadPage, 'count' | 'rows' | 'last'>,
  request: CatalogueRequest,
  response: Response,
): void {
  request.rows = Number(page.rows);
  if (prepared.place) setLinks(prepared.place, page, request, response);
}
