import { KeyedLimit } from '../http/keyed-limit.js';

/** Milliseconds after another client has asked for which a client has only its share. */
const SHARING = 10_000;

/** Limits the number of requests in progress of each client. */
export class ClientRequests {
  private readonly limit: KeyedLimit;
  private latest: string | undefined;
  /** The `performance.now()` value when `latest` last changed to another client. */
  private lastOther = -Infinity;

  /** @param maximum requests in progress of a client */
  constructor(maximum: number) {
    this.limit = new KeyedLimit(maximum);
  }

  /**
   * Counts one more request of a client until `leave`, unless it is at its limit.
   *
   * @param share the fraction of the limit that a client has while there are others, up to 1
   */
  enter(clientID: string, share: number): boolean {
    const now = performance.now();
    if (this.latest !== undefined && this.latest !== clientID) this.lastOther = now;
    this.latest = clientID;
    return this.limit.enter(clientID, now - this.lastOther < SHARING ? share : 1);
  }

  leave(clientID: string): void {
    this.limit.leave(clientID);
  }
}
