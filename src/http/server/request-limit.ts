/** Requests in work for each connection to the database: those that it runs one after another. */
const PER_DATABASE_CONNECTION = { minimum: 4, maximum: 20 };
/** Milliseconds that the last of the requests in work may wait for its turn. */
const LONGEST_WAIT = 50;
/** One client connection may have 1/`divisor` of the maximum in work, and at least `minimum`. */
const CONNECTION_SHARE = { divisor: 8, minimum: 8 };

/** Milliseconds between two measurements of the delay. */
const INTERVAL = 10;
/** The share of a delay that remains after the next measurement without one. */
const DECAY = 0.9;

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
  /** The lowest value of `at`. */
  readonly minimum: number;
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

/**
 * How long a pass of Node's event loop takes at present. A pass handles every socket that has data, so
 * that it takes longer the more requests arrive.
 */
export class LoopDelay {
  private current = 0;
  private due = 0;
  private timer: NodeJS.Timeout | undefined;

  /** Milliseconds: the latest delay, or a longer one of the last tenths of a second, which fades. */
  get milliseconds(): number {
    return this.current;
  }

  start(): void {
    this.due = performance.now() + INTERVAL;
    this.timer ??= setInterval(this.measure, INTERVAL).unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.current = 0;
  }

  private readonly measure = (): void => {
    const now = performance.now();
    this.current = Math.max(now - this.due, this.current * DECAY);
    this.due = now + INTERVAL;
  };
}
