/** Requests in work for each connection to the database: those that it runs one after another. */
const PER_DATABASE_CONNECTION = { least: 4, most: 20 };
/** Milliseconds that the last of the requests in work may wait for its turn. */
const LONGEST_WAIT = 50;
/** One client connection may have 1/`divisor` of the most requests in work, and at least `least`. */
const CONNECTION_SHARE = { divisor: 8, least: 8 };

/**
 * How many requests may be in work; see `Admission`.
 *
 * In one pass of the event loop, each connection to the database completes one query at most. A request
 * waits for as many passes as there are requests before it at its connection, and a pass takes longer
 * the more requests arrive, those included that are refused. So the limit is lower the longer a pass
 * takes. While few client connections are open, each of them may have a request in work whatever a pass takes:
 * clients that wait for their answers cannot overload the service.
 */
export class RequestLimit {
  private readonly least: number;
  /** The highest value of `at`. */
  readonly most: number;
  /** Requests in work on one client connection. */
  readonly ofConnection: number;

  /** @param poolSize connections to the database */
  constructor(private readonly poolSize: number) {
    this.least = PER_DATABASE_CONNECTION.least * poolSize;
    this.most = PER_DATABASE_CONNECTION.most * poolSize;
    const { divisor, least } = CONNECTION_SHARE;
    this.ofConnection = Math.max(least, Math.ceil(this.most / divisor));
  }

  /**
   * @param delay milliseconds that a pass of the event loop takes
   * @param connections open client connections that have sent a request
   */
  at(delay: number, connections: number): number {
    const inTime = Math.floor((this.poolSize * LONGEST_WAIT) / Math.max(delay, 1));
    // Beyond `most` connections, it falls as it has risen, so that no connection more makes a step.
    const oneEach = Math.min(connections, 2 * this.most - connections);
    return Math.min(this.most, Math.max(this.least, inTime, oneEach));
  }
}
