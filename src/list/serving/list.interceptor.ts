import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { allowedParameters } from '../../http/parameters/allowed-parameters.js';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import { CredentialsQueryDto } from '../../http/parameters/credentials-query.dto.js';
import { compress, type Encoding, encodingOf, WORTHWHILE } from '../../http/compression.js';
import { entityTag, namesTag } from './entity-tag.js';
import { type Answer, type Page, success, withoutToken } from '../../http/envelope.js';
import { ApiError, busy, errors } from '../../http/errors.js';
import { link } from './link.js';
import { isListing, type Listing, type RowFormat, type State } from './listing.js';
import { PageCache } from './page-cache.js';
import { ParametersPipe } from '../../http/parameters/parameters.pipe.js';
import { queryClass } from '../../http/parameters/query-class.js';
import { ReadTurns } from './read-turns.js';
import { CONTENT_TYPES, formatOf } from './accept.js';
import { StreamLimit } from './stream-limit.js';

/**
 * Wraps what a handler returns into the envelope of a successful answer, or leaves a list to be
 * sent whole. `OPTIONS` is answered in place of the handler, after the same checks. A list that the
 * client says it still has is not read again, nor one that was just served, if its data are unchanged.
 */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor<Page | Listing, Answer> {
  constructor(
    private readonly cache: PageCache,
    private readonly pipe: ParametersPipe,
    private readonly streams: StreamLimit,
    private readonly turns: ReadTurns,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler<Page | Listing>): Observable<Answer> {
    const http = context.switchToHttp();
    if (http.getRequest<CatalogueRequest>().method === 'OPTIONS') {
      return from(this.options(context));
    }
    return from(this.answer(http.getRequest(), http.getResponse(), next));
  }

  private async answer(
    request: CatalogueRequest,
    response: Response,
    next: CallHandler<Page | Listing>,
  ): Promise<Answer> {
    // The handler of an object reads it, and what a list depends on may have to be found out.
    const { answer, isVersioned } = await this.inTurn(request, response, async () => {
      const answer = await lastValueFrom(next.handle());
      return { answer, isVersioned: isListing(answer) && (await answer.isVersioned()) };
    });
    if (isListing(answer)) {
      const format = formatOf(request);
      if (format) return this.whole(answer, isVersioned, format, request, response);
      return this.list(answer, isVersioned, request, response);
    }
    request.rows = Number(answer.count);
    return { status: 200, ...(await bodyOf(answer, wanted(request))) };
  }

  /** Reads when it is the client's turn. */
  private inTurn<T>(
    request: CatalogueRequest,
    response: Response,
    read: () => Promise<T>,
  ): Promise<T> {
    return this.turns.take(clientOf(request), () => {
      // Nobody is left to be answered, and others wait for their turn.
      if (response.destroyed) throw busy();
      return read();
    });
  }

  /** Answers with the parameters that a path takes; those that were sent are checked as by `GET`. */
  private async options(context: ExecutionContext): Promise<Answer> {
    const http = context.switchToHttp();
    const request = http.getRequest<CatalogueRequest>();
    const query = queryClass(context.getClass(), context.getHandler().name) ?? CredentialsQueryDto;
    await this.pipe
      .transform(request.query, { type: 'query', metatype: query })
      .catch((error: unknown) => {
        // Who asks what there is need not know it.
        if (!(error instanceof ApiError && error.errcode === errors.parameterMissing.errcode)) {
          throw error;
        }
      });
    const page = allowedParameters(query);
    request.rows = Number(page.count);
    http.getResponse<Response>().setHeader('Allow', 'GET, HEAD, OPTIONS');
    return { status: 200, body: success(page) };
  }

  private async list(
    listing: Listing,
    isVersioned: boolean,
    request: CatalogueRequest,
    response: Response,
  ): Promise<Answer> {
    const read = () => this.inTurn(request, response, () => listing.read());
    if (!isVersioned) {
      const page = await read();
      tell(listing, page.count, request, response);
      return { status: 200, ...(await bodyOf(page, wanted(request))) };
    }
    const { key } = listing;
    const { 'if-none-match': ifNoneMatch } = request.headers;
    const encoding = wanted(request);
    const form = encoding ? `${key} ${encoding}` : key;
    const cached = this.cache.get(form);
    if (ifNoneMatch !== undefined || cached) {
      const state = await listing.state();
      const { version } = state;
      const tag = entityTag(version, key);
      mark(response, state, key);
      if (ifNoneMatch !== undefined && namesTag(ifNoneMatch, tag)) return { status: 304 };
      if (cached?.version === version) {
        tell(listing, cached.count, request, response);
        return { status: 200, body: cached.body, encoding: cached.encoding };
      }
    }
    const page = await read();
    const { version, count } = page;
    const body = await bodyOf(page, encoding);
    this.cache.set(form, { version, count, ...body });
    mark(response, page, key);
    tell(listing, count, request, response);
    return { status: 200, ...body };
  }

  /** The list in a form without an envelope, from its first object to its last. */
  private async whole(
    listing: Listing,
    isVersioned: boolean,
    format: RowFormat,
    request: CatalogueRequest,
    response: Response,
  ): Promise<Answer> {
    const whole = listing.whole(format);
    const { 'if-none-match': ifNoneMatch } = request.headers;
    if (ifNoneMatch !== undefined && isVersioned) {
      const state = await listing.state();
      mark(response, state, whole.key);
      if (namesTag(ifNoneMatch, entityTag(state.version, whole.key))) return { status: 304 };
    }
    const list = await this.streams.open(whole, clientOf(request), closed(response));
    if (isVersioned) mark(response, list, whole.key);
    response.setHeader('Content-Type', CONTENT_TYPES[format]);
    response.setHeader('X-Total-Count', list.count);
    return { status: 200, list, encoding: wanted(request) };
  }
}

/** What a client's share is counted by. */
function clientOf({ client }: CatalogueRequest): string {
  return client?.clientID ?? '';
}

function wanted({ headers }: CatalogueRequest): Encoding | undefined {
  return encodingOf(headers['accept-encoding']);
}

/** The envelope of a page, in the encoding wanted if that is worth it. */
async function bodyOf(
  page: Page,
  encoding: Encoding | undefined,
): Promise<{ body: Buffer; encoding?: Encoding }> {
  const body = Buffer.from(success(page));
  if (!encoding || body.length < WORTHWHILE) return { body };
  return { body: await compress(body, encoding), encoding };
}

/** Is aborted when a response has ended or its reader is gone. */
function closed(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    controller.abort();
  });
  if (response.destroyed) controller.abort();
  return controller.signal;
}

/** Says what data an answer shows: by its tag, and to whom keeps a copy by a time. */
function mark(response: Response, { version, until }: State, key: string): void {
  response.setHeader('ETag', entityTag(version, key));
  // What is there may be later: no change is missing before this time.
  if (until !== null) response.setHeader('X-Updated-Until', until);
}

/** Says where a page lies among all that match: the client by links, the log by its rows. */
function tell(
  { offset, limit }: Listing,
  total: string,
  request: CatalogueRequest,
  response: Response,
): void {
  const count = Number(total);
  // The count is of the page's own snapshot, so this is what it holds.
  request.rows = Math.max(0, Math.min(limit, count - offset));
  const [path = ''] = request.url.split('?', 1);
  const links = link(path, request.parameters, { offset, limit, count });
  // A token that was sent as another parameter's value is in them: then there are none.
  if (links !== undefined && withoutToken(links, request) === links) {
    response.setHeader('Link', links);
  }
}
