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
   * @param share the part of the limit that a client has while there are others, up to 1
   */
  enter(clientID: string, share: number): boolean {
    this.lastOther = this.latestOther(clientID);
    this.latest = clientID;
    return this.hasRoom(clientID, share) && this.limit.enter(clientID);
  }

  /** Whether `enter` would count one more request of a client. */
  hasRoom(clientID: string, share: number): boolean {
    const isShared = performance.now() - this.latestOther(clientID) < SHARING;
    return this.limit.hasRoom(clientID, isShared ? share : 1);
  }

  leave(clientID: string): void {
    this.limit.leave(clientID);
  }

  /** When another client asked last: a `performance.now()` value. */
  private latestOther(clientID: string): number {
    const isOther = this.latest !== undefined && this.latest !== clientID;
    return isOther ? performance.now() : this.lastOther;
  }
}
