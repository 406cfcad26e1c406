import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { finalize, type Observable } from 'rxjs';
import type { CatalogueRequest } from '../http/catalogue-request.js';
import { errors } from '../http/errors.js';
import { KeyedLimit } from '../http/keyed-limit.js';
import { Settings } from '../settings/settings.js';

/** Milliseconds after another client has asked for which a client has only its share. */
const SHARING = 10_000;
/** The fraction of its limit that a client has while there are others. */
const SHARE = 0.5;

/**
 * Limits the concurrent requests of each client; more get the error response `-4`. While there are several clients, each
 * has half of its limit, so that one does not have those of others refused. A request counts until its response is
 * produced, even if the client has disconnected.
 */
@Injectable()
export class ConcurrencyInterceptor implements NestInterceptor {
  private readonly requests: KeyedLimit;
  private latest: string | undefined;
  /** The `performance.now()` value when `latest` last changed to another client. */
  private lastOther = -Infinity;

  constructor({ maxRequestsPerClient }: Settings) {
    this.requests = new KeyedLimit(maxRequestsPerClient);
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<CatalogueRequest>();
    // Those that waited for a change have a bound of their own: see `WaitingRequests`.
    if (!request.client || request.waited) return next.handle();
    const { clientID } = request.client;
    if (!this.requests.enter(clientID, this.shareOf(clientID))) throw errors.busy();
    return next.handle().pipe(
      finalize(() => {
        this.requests.leave(clientID);
      }),
    );
  }

  /** The fraction of the limit that a client has now: all of it while there is no other. */
  private shareOf(clientID: string): number {
    const now = performance.now();
    if (this.latest !== undefined && this.latest !== clientID) this.lastOther = now;
    this.latest = clientID;
    return now - this.lastOther < SHARING ? SHARE : 1;
  }
}
