/** Requests in work for each connection to the database: those that it runs one after another. */
const PER_DATABASE_CONNECTION = { minimum: 4, maximum: 20 };
/** Milliseconds that the last of the requests in work may wait for its turn. */
const LONGEST_WAIT = 50;
/** One client connection may have 1/`divisor` of the maximum in work, and at least `minimum`. */
const CONNECTION_SHARE = { divisor: 8, minimum: 8 };

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
  private readonly minimum: number;
  /** The highest value of `at`. */
  readonly maximum: number;
  /** Requests in work on one client connection. */
  readonly ofConnection: number;

  /** @param poolSize connections to the database */
  constructor(private readonly poolSize: number) {
    this.minimum = PER_DATABASE_CONNECTION.minimum * poolSize;
    this.maximum = PER_DATABASE_CONNECTION.maximum * poolSize;
    const { divisor, minimum } = CONNECTION_SHARE;
    this.ofConnection = Math.max(minimum, Math.ceil(this.maximum / divisor));
  }

  /**
   * @param delay milliseconds that a pass of the event loop takes
   * @param connections open client connections that have sent a request
   */
  at(delay: number, connections: number): number {
    const inTime = Math.floor((this.poolSize * LONGEST_WAIT) / Math.max(delay, 1));
    // Beyond `maximum` connections, it falls as it has risen, so that no connection more makes a step.
    const oneEach = Math.min(connections, 2 * this.maximum - connections);
    return Math.min(this.maximum, Math.max(this.minimum, inTime, oneEach));
  }
}
