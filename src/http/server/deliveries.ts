import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** When a reader is too slow: what a connection may hold back, and for how long. */
export interface DeliveryLimits {
  /** Milliseconds that a response may take whatever its size. */
  readonly grace: number;
  /** Bytes a second that a reader must take beyond that. */
  readonly rate: number;
  /** Bytes that all readers together may leave waiting in memory. */
  readonly bytes: number;
}

const LIMITS: DeliveryLimits = { grace: 20_000, rate: 32_768, bytes: 64 * 1024 * 1024 };
/** Milliseconds between two checks. */
const CHECK_INTERVAL = 1000;
/** Milliseconds for which no reader is cut off to make room. */
const ROOM_GRACE = 1000;

interface Delivery {
  readonly bytes: number;
  readonly started: number;
  deadline: number;
}

/**
 * Responses that are ended and not yet taken by their readers. A reader that misses its deadline
 * loses its connection; so do those that wait longest while all together hold too many bytes.
 */
export class Deliveries {
  /** In the order in which they began. */
  private readonly waiting = new Map<ServerResponse, Delivery>();
  private readonly byConnection = new WeakMap<Duplex, number>();
  private total = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly limits = LIMITS) {}

  /** Bytes that readers have not taken yet. */
  get bytes(): number {
    return this.total;
  }

  /** Follows a response that was just ended until `delete`. */
  add(response: ServerResponse): void {
    const bytes = response.writableLength;
    if (bytes === 0 || this.waiting.has(response)) return;
    const started = performance.now();
    const { grace, rate } = this.limits;
    // Pipelined responses share a connection: each waits for those before it.
    const ahead = this.count(response, bytes);
    const deadline = started + grace + (ahead / rate) * 1000;
    this.waiting.set(response, { bytes, started, deadline });
    this.timer ??= setInterval(this.check, CHECK_INTERVAL).unref();
  }

  delete(response: ServerResponse): void {
    const delivery = this.waiting.get(response);
    if (!delivery) return;
    this.waiting.delete(response);
    this.count(response, -delivery.bytes);
  }

  /** Adds to the bytes that wait, and gives those of the response's connection. */
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
      // Its time begins when the response before it, perhaps a whole list, has been taken.
      if (response.socket === null) {
        delivery.deadline = Math.max(delivery.deadline, now + this.limits.grace);
      }
      const isInTheWay = total > this.limits.bytes && now - delivery.started > ROOM_GRACE;
      if (now <= delivery.deadline && !isInTheWay) continue;
      total -= this.byConnection.get(socket) ?? 0;
      socket.destroy();
    }
    if (this.waiting.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  };
}
