import { Injectable } from '@nestjs/common';
import { Settings } from '../settings/settings.js';
import type { CatalogueRequest } from './catalogue-request.js';
import { errors } from './errors.js';
import { KeyedLimit } from './keyed-limit.js';

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
export class ClientConcurrency {
  private readonly requests: KeyedLimit;
  private latest: string | undefined;
  /** The `performance.now()` value when `latest` last changed to another client. */
  private lastOther = -Infinity;

  constructor({ maxRequestsPerClient }: Settings) {
    this.requests = new KeyedLimit(maxRequestsPerClient);
  }

  /**
   * Produces a response to a request.
   *
   * @throws ApiError `-4` if too many requests of its client are in work
   */
  async run<T>({ client, waited }: CatalogueRequest, produce: () => Promise<T>): Promise<T> {
    // Those that waited for a change have a bound of their own: see `WaitingRequests`.
    if (!client || waited) return produce();
    const { clientID } = client;
    if (!this.requests.enter(clientID, this.shareOf(clientID))) throw errors.busy();
    try {
      return await produce();
    } finally {
      this.requests.leave(clientID);
    }
  }

  /** The fraction of the limit that a client has now: all of it while there is no other. */
  private shareOf(clientID: string): number {
    const now = performance.now();
    if (this.latest !== undefined && this.latest !== clientID) this.lastOther = now;
    this.latest = clientID;
    return now - this.lastOther < SHARING ? SHARE : 1;
  }
}
