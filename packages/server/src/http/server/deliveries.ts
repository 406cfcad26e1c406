import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The limits beyond which a reader counts as too slow. */
const READER_LIMITS = {
  /** Milliseconds that a response of any size may take. */
  grace: 20_000,
  /** Minimum bytes per second. It extends the deadline in proportion to the size. */
  rate: 32_768,
  /** Maximum bytes that wait in memory for all readers together. */
  bytes: 64 * 1024 * 1024,
};
/** Milliseconds between two checks. */
const DEADLINE_CHECK_PERIOD = 1000;
/** Milliseconds before a reader's connection may be closed to free memory. */
const ROOM_GRACE = 1000;

interface Delivery {
  readonly bytes: number;
  readonly started: number;
  deadline: number;
}

/**
 * Responses that have ended and are not yet fully read. Closes the connection of a reader that
 * misses its deadline. While all responses together exceed the maximum number of bytes, it also
 * closes the connections of those that wait longest.
 */
export class Deliveries {
  /** In the order in which they were added. */
  private readonly waiting = new Map<ServerResponse, Delivery>();
  private readonly byConnection = new WeakMap<Duplex, number>();
  private total = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly limits = READER_LIMITS) {}

  /** Bytes that readers have not read yet. */
  get bytes(): number {
    return this.total;
  }

  /** Watches a response that has just ended, until `delete`. */
  add(response: ServerResponse): void {
    const bytes = response.writableLength;
    if (bytes === 0 || this.waiting.has(response)) return;
    const started = performance.now();
    const { grace, rate } = this.limits;
    // Pipelined responses share a connection: each waits for those before it.
    const ahead = this.count(response, bytes);
    const deadline = started + grace + (ahead / rate) * 1000;
    this.waiting.set(response, { bytes, started, deadline });
    this.timer ??= setInterval(this.check, DEADLINE_CHECK_PERIOD).unref();
  }

  delete(response: ServerResponse): void {
    const delivery = this.waiting.get(response);
    if (!delivery) return;
    this.waiting.delete(response);
    this.count(response, -delivery.bytes);
  }

  /** Adds to the unread bytes. Returns the unread bytes of the response's connection. */
  private count({ req: { socket } }: ServerResponse, bytes: number): number {
    const waiting = (this.byConnection.get(socket) ?? 0) + bytes;
    this.byConnection.set(socket, waiting);
    this.total += bytes;
    return waiting;
  }

  private readonly check = (): void => {
    const now = performance.now();
    let { total } = this;
    for (const [response, delivery] of this.waiting) {
      const { socket } = response.req;
      if (socket.destroyed) continue;
      // Its time begins when the response before it, perhaps a whole list, has been read.
      if (response.socket === null) {
        delivery.deadline = Math.max(delivery.deadline, now + this.limits.grace);
      }
      const exceedsTotal = total > this.limits.bytes && now - delivery.started > ROOM_GRACE;
      if (now <= delivery.deadline && !exceedsTotal) continue;
      total -= this.byConnection.get(socket) ?? 0;
      socket.destroy();
    }
    if (this.waiting.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  };
}
