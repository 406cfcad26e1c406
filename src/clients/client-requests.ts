import { KeyedLimit } from '../http/keyed-limit.js';

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
    this.lastOther = this.latestOther(clientID);
    this.latest = clientID;
    return this.hasRoomWith(clientID, share) && this.enter(clientID);
  }

  /** Whether `enterWith` would count one more request of a client. */
  hasRoomWith(clientID: string, share: number): boolean {
    const isShared = performance.now() - this.latestOther(clientID) < SHARING;
    return this.hasRoom(clientID, isShared ? share : 1);
  }

  /** When another client asked last: a `performance.now()` value. */
  private latestOther(clientID: string): number {
    const isOther = this.latest !== undefined && this.latest !== clientID;
    return isOther ? performance.now() : this.lastOther;
  }
}
