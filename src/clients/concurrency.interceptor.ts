import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { finalize, type Observable } from 'rxjs';
import type { CatalogueRequest } from '../http/catalogue-request.js';
import { errors } from '../http/errors.js';
import type { EnvelopedExpressAdapter } from '../http/server/enveloped-express.adapter.js';
import { ClientRequests } from './client-requests.js';

/**
 * Limits the concurrent requests of each client. While the service admits fewer requests and there are several
 * clients, the limit of each falls in proportion, so that one client does not have the requests of others refused.
 * A request counts until its response is produced, even if the client has disconnected. More requests get
 * the error response `-4`.
 */
@Injectable()
export class ConcurrencyInterceptor implements NestInterceptor {
  constructor(
    private readonly requests: ClientRequests,
    private readonly host: HttpAdapterHost<EnvelopedExpressAdapter>,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<CatalogueRequest>();
    if (!request.client) return next.handle();
    const { clientID } = request.client;
    if (!this.requests.enter(clientID, this.host.httpAdapter.admittedShare)) throw errors.busy();
    return next.handle().pipe(
      finalize(() => {
        this.requests.leave(clientID);
      }),
    );
  }
}
