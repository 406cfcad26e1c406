import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { onEnd } from './on-end.js';

/** One connection may have 1/`divisor` of all requests in work, and at least `minimum`. */
const CONNECTION_SHARE = { divisor: 8, minimum: 8 };

/**
 * Limits the requests in work: those whose response has not been passed to its connection in full.
 * A response that has ended and waits for its reader does not count.
 */
export class Admission {
  private readonly working = new Set<ServerResponse>();
  private readonly byConnection = new WeakMap<Duplex, number>();

  /**
   * @param maximum requests in work
   * @param connectionMaximum requests in work on one connection
   */
  constructor(
    private readonly maximum: number,
    private readonly connectionMaximum = shareOf(maximum),
  ) {}

  /** The number of requests in work. */
  get size(): number {
    return this.working.size;
  }

  /**
   * Counts a request until its response is ended or closed. Returns false if the request exceeds a
   * limit and must get an error response.
   */
  add(response: ServerResponse): boolean {
    const { socket } = response.req;
    const ofConnection = (this.byConnection.get(socket) ?? 0) + 1;
    this.working.add(response);
    this.byConnection.set(socket, ofConnection);
    const leave = (): void => {
      this.leave(response);
    };
    onEnd(response, leave);
    response.once('close', leave);
    return this.size <= this.maximum && ofConnection <= this.connectionMaximum;
  }

  private leave(response: ServerResponse): void {
    if (!this.working.delete(response)) return;
    const { socket } = response.req;
    this.byConnection.set(socket, (this.byConnection.get(socket) ?? 1) - 1);
  }
}

function shareOf(maximum: number): number {
  const { divisor, minimum } = CONNECTION_SHARE;
  return Math.max(minimum, Math.ceil(maximum / divisor));
}
