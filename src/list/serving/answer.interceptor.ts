import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { from, lastValueFrom, type Observable } from 'rxjs';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import { type Answer, pageAnswer } from '../../http/envelope.js';
import { errors } from '../../http/errors.js';
import { OptionsResponder } from '../../http/options-responder.js';
import { ParametersPipe } from '../../http/parameters/parameters.pipe.js';
import { queryClassOf } from '../../http/endpoints.js';
import { FacetCounts, FacetReader } from '../facets/facet-reader.js';
import { ListReader } from '../reading/list-reader.js';
import { Listing, ObjectLookup } from '../listing/listing.js';
import { namedFields } from '../visibility/shown-fields.js';
import { VisibleListing, VisibleObject } from '../visibility/visible-listing.js';
import { streamFormatOf } from './accept.js';
import { wantedWait } from './change-wait.js';
import { handlerPage } from './handler-page.js';
import { PageServer } from './page-server.js';
import { StreamServer } from './stream-server.js';

/**
 * Converts the result of a handler to an answer. Lists, facet counts and objects are read within the read
 * limit of the client; what a handler reads itself is not.
 */
@Injectable()
export class AnswerInterceptor implements NestInterceptor<unknown, Answer> {
  constructor(
    private readonly lists: ListReader,
    private readonly facets: FacetReader,
    private readonly pages: PageServer,
    private readonly streams: StreamServer,
    private readonly options: OptionsResponder,
    private readonly parameters: ParametersPipe,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<Answer> {
    const { method } = context.switchToHttp().getRequest<CatalogueRequest>();
    // Here and not in an interceptor of its own, which would cost every request some microseconds.
    if (method === 'OPTIONS') return from(this.options.answer(context));
    return from(this.answer(context, next));
  }

  private async answer(context: ExecutionContext, next: CallHandler): Promise<Answer> {
    const request = context.switchToHttp().getRequest<CatalogueRequest>();
    const result: unknown = await lastValueFrom(next.handle(), { defaultValue: undefined });
    request.trace?.leave();
    const prefersWait = wantedWait(request) !== undefined;
    if (result instanceof Listing) {
      const format = streamFormatOf(request);
      const visible = VisibleListing.of(result, request.client);
      const list = this.lists.prepare(visible, !format && prefersWait);
      return format ? this.streams.answer(list, format, request) : this.pages.answer(list, request);
    }
    if (result instanceof FacetCounts) {
      const list = result.visibleTo(request.client);
      const counts = this.facets.prepare(list, result.request, prefersWait);
      return this.pages.answer(counts, request);
    }
    if (result instanceof ObjectLookup) {
      return this.pages.answerObject(VisibleObject.of(result, request.client), request);
    }
    // A custom handler may have read anything.
    if (request.client?.rights) throw errors.forbidden('This path is not for this client');
    const controller = context.getClass<object>();
    const { name: method } = context.getHandler();
    let fields: readonly string[] | undefined;
    if (request.parameters.some(({ name }) => name === 'fields')) {
      const metatype = queryClassOf(controller, method);
      const query = await this.parameters.transform(request.query, { type: 'query', metatype });
      fields = namedFields(query);
    }
    const page = handlerPage(result, `${controller.name}.${method}`, fields);
    request.rows = page.rows;
    return pageAnswer(page, request);
  }
}
