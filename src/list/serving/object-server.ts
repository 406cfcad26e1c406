import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import type { Answer } from '../../http/envelope.js';
import { pageAnswer } from '../../http/page-answer.js';
import { nameOf } from '../../resource/resource.js';
import type { ObjectLookup } from '../listing/listing.js';
import { ObjectReader } from '../reading/object-reader.js';
import { matchesTag, objectTag } from './entity-tag.js';
import { ReadLimit } from './read-limit.js';

/**
 * Answers with a single object. It is read for every request, since its lookup costs no more than that
 * of a version; `304` saves its transfer.
 */
@Injectable()
export class ObjectServer {
  constructor(
    private readonly objects: ObjectReader,
    private readonly readLimit: ReadLimit,
  ) {}

  async answer(
    lookup: ObjectLookup,
    request: CatalogueRequest,
    response: Response,
  ): Promise<Answer> {
    const resource = nameOf(lookup.repository.metadata);
    const page = await this.readLimit.runFor({ resource }, request, response, () =>
      this.objects.read(lookup, request.client),
    );
    const tag = objectTag(page.objects);
    response.setHeader('ETag', tag);
    const { 'if-none-match': ifNoneMatch } = request.headers;
    if (ifNoneMatch !== undefined && matchesTag(ifNoneMatch, tag)) return { status: 304 };
    request.rows = 1;
    return pageAnswer(page, request);
  }
}
