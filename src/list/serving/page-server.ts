import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import { encodingOf } from '../../http/compression.js';
import type { Answer } from '../../http/envelope.js';
import { pageAnswer } from '../../http/page-answer.js';
import type { PreparedList } from '../prepared-list.js';
import { entityTag, matchesTag } from './entity-tag.js';
import { setPosition, setState } from './list-headers.js';
import { PageCache } from './page-cache.js';
import { ReadLimit } from './read-limit.js';
import { isVersioned } from './versioned.js';

/**
 * Answers with a page of a list. It reads the page from the database only if neither the client nor
 * the cache has the current version.
 */
@Injectable()
export class PageServer {
  constructor(
    private readonly cache: PageCache,
    private readonly readLimit: ReadLimit,
  ) {}

  async answer(list: PreparedList, request: CatalogueRequest, response: Response): Promise<Answer> {
    return (await isVersioned(list, this.readLimit, request, response))
      ? this.answerVersioned(list, request, response)
      : this.answerUnversioned(list, request, response);
  }

  private async answerVersioned(
    list: PreparedList,
    request: CatalogueRequest,
    response: Response,
  ): Promise<Answer> {
    const { key } = list;
    const { 'if-none-match': ifNoneMatch, 'accept-encoding': acceptEncoding } = request.headers;
    const cacheKey = `${key} ${encodingOf(acceptEncoding) ?? ''}`;
    const cached = this.cache.get(cacheKey);
    if (ifNoneMatch !== undefined || cached) {
      const state = await list.state();
      setState(response, state, key);
      if (ifNoneMatch !== undefined && matchesTag(ifNoneMatch, entityTag(state.version, key))) {
        return { status: 304 };
      }
      if (cached?.version === state.version) {
        setPosition(list, cached, request, response);
        return { status: 200, body: cached.body, encoding: cached.encoding };
      }
    }
    const page = await this.readLimit.runFor(request, response, () => list.read());
    const answer = await pageAnswer(page, request);
    this.cache.set(cacheKey, { ...page, ...answer });
    setState(response, page, key);
    setPosition(list, page, request, response);
    return answer;
  }

  private async answerUnversioned(
    list: PreparedList,
    request: CatalogueRequest,
    response: Response,
  ): Promise<Answer> {
    const page = await this.readLimit.runFor(request, response, () => list.read());
    setPosition(list, page, request, response);
    return pageAnswer(page, request);
  }
}
