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
import { KeyedLimit } from '../http/keyed-limit.js';
import type { EnvelopedExpressAdapter } from '../http/server/enveloped-express.adapter.js';

/** Milliseconds after another client has asked for which a client has only its share. */
const SHARING = 10_000;

/** The number of requests in progress, by `clientID`. */
export class ClientRequests extends KeyedLimit {
  private latest: string | undefined;
  private lastOther = -Infinity;

  /**
   * Counts one more request of a client, unless it is at its limit.
   *
   * @param share the part of the limit that a client has while there are others, up to 1
   */
  enterWith(clientID: string, share: number): boolean {
    const now = performance.now();
    if (this.latest !== undefined && this.latest !== clientID) this.lastOther = now;
    this.latest = clientID;
    return this.enter(clientID, now - this.lastOther < SHARING ? share : 1);
  }
}

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
    const { client } = context.switchToHttp().getRequest<CatalogueRequest>();
    if (!client) return next.handle();
    const { clientID } = client;
    if (!this.requests.enterWith(clientID, this.host.httpAdapter.admittedShare))
      throw errors.busy();
    return next.handle().pipe(
      finalize(() => {
        this.requests.leave(clientID);
      }),
    );
  }
}
