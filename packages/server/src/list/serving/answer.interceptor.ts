import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { from, lastValueFrom, type Observable } from 'rxjs';
import type { CatalogueRequest } from '../../http/request.js';
import { ClientConcurrency } from '../../http/client-limits.js';
import { type Answer, pageAnswer } from '../../http/envelope.js';
import { errors } from '../../http/errors.js';
import { formOf } from '../../http/negotiation.js';
import { rightsOf } from '../../resource/visibility.js';
import { OptionsResponder } from '../../http/options-responder.js';
import { ParametersPipe } from '../../http/parameters/validation.js';
import { queryClassFor } from '../../http/endpoints.js';
import { ChangesQueryDto } from '../changes/changes-query.dto.js';
import { ChangesReader } from '../changes/changes-reader.js';
import { facetRequestOf, FacetReader } from '../facets/facet-reader.js';
import { FacetsQueryDto } from '../facets/facets-query.dto.js';
import { ListReader } from '../reading/list-reader.js';
import { Listing, ObjectLookup } from '../listing/listing.js';
import { namedFields, VisibleListing, VisibleObject } from '../visibility/visible-listing.js';
import { wantedWait } from './conditional.js';
import { handlerPage } from './handler-page.js';
import { PageServer } from './page-server.js';
import { share } from './shared-answer.js';
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
    private readonly changes: ChangesReader,
    private readonly pages: PageServer,
    private readonly streams: StreamServer,
    private readonly options: OptionsResponder,
    private readonly parameters: ParametersPipe,
    private readonly concurrency: ClientConcurrency,
  ) {}

  /** The only interceptor: each one costs every request some microseconds. */
  intercept(context: ExecutionContext, next: CallHandler): Observable<Answer> {
    const request = context.switchToHttp().getRequest<CatalogueRequest>();
    const produce = async (): Promise<Answer> => {
      if (request.method === 'OPTIONS') return this.options.answer(context);
      const answer = await this.answer(context, request, next);
      share(context, request);
      return answer;
    };
    return from(this.concurrency.run(request, produce));
  }

  private async answer(
    context: ExecutionContext,
    request: CatalogueRequest,
    next: CallHandler,
  ): Promise<Answer> {
    const result: unknown = await lastValueFrom(next.handle(), { defaultValue: undefined });
    request.trace?.leave();
    const prefersWait = wantedWait(request) !== undefined;
    const queryClass = queryClassFor(context);
    if (queryClass.prototype instanceof FacetsQueryDto) {
      const query = (await this.queryOf(request, queryClass)) as FacetsQueryDto;
      const counts = facetRequestOf(result, query, request.client);
      const prepared = this.facets.prepare(...counts, prefersWait);
      return this.pages.answer(prepared, request);
    }
    if (result instanceof Listing) {
      const { format } = formOf(request);
      const visible = VisibleListing.of(result, request.client);
      const list = this.lists.prepare(visible, !format && prefersWait);
      return format ? this.streams.answer(list, format, request) : this.pages.answer(list, request);
    }
    if (result instanceof ChangesQueryDto) {
      const { format } = formOf(request);
      if (format !== 'ndjson')
        throw errors.refused('Changes are sent as lines: send Accept: application/x-ndjson');
      const prepared = await this.changes.prepare(result, context);
      const answer = await this.streams.answer(prepared, format, request);
      const { clientID = '' } = request.client ?? {};
      if (!answer.later) this.changes.answered.set(clientID, performance.now());
      return answer;
    }
    if (result instanceof ObjectLookup) {
      return this.pages.answerObject(VisibleObject.of(result, request.client), request);
    }
    // A custom handler may have read anything.
    if (!rightsOf(request.client).isEverything)
      throw errors.forbidden('This path is not for this client');
    const namesFields = request.parameters.some(({ name }) => name === 'fields');
    const fields = namesFields ? namedFields(await this.queryOf(request, queryClass)) : undefined;
    const name = `${context.getClass().name}.${context.getHandler().name}`;
    const page = handlerPage(result, name, fields);
    request.rows = page.rows;
    return pageAnswer(page, request);
  }

  /** What a request asks for, as an object of its query class. */
  private queryOf({ query }: CatalogueRequest, queryClass: Type<object>): Promise<unknown> {
    return this.parameters.transform(query, { type: 'query', metatype: queryClass });
  }
}
