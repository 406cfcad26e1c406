import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { finalize, type Observable } from 'rxjs';
import type { CatalogueRequest } from '../http/catalogue-request.js';
import { busy } from '../http/errors.js';
import { KeyedLimit } from '../http/keyed-limit.js';

/** The requests that each client has in work, by `clientID`. */
export class ClientRequests extends KeyedLimit {}

/**
 * Bounds the requests that one client has in work at a time. A request counts until its answer is
 * made, also where the client went away before.
 */
@Injectable()
export class ConcurrencyInterceptor implements NestInterceptor {
  constructor(private readonly requests: ClientRequests) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { client } = context.switchToHttp().getRequest<CatalogueRequest>();
    if (!client) return next.handle();
    const { clientID } = client;
    if (!this.requests.enter(clientID)) throw busy();
    return next.handle().pipe(
      finalize(() => {
        this.requests.leave(clientID);
      }),
    );
  }
}
