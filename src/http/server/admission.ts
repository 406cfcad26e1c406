import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { onEnd } from './on-end.js';

/** The share of all places that the requests of one connection can take, and the minimum of it. */
const CONNECTION_SHARE = { divisor: 8, minimum: 8 };

/**
 * Bounds the requests in work: those whose response has not been handed to its connection yet.
 * A response that is ended and waits for its reader takes no place.
 */
export class Admission {
  private readonly working = new Set<ServerResponse>();
  private readonly byConnection = new WeakMap<Duplex, number>();

  /**
   * @param maximum requests in work
   * @param connectionMaximum those of one connection
   */
  constructor(
    private readonly maximum: number,
    private readonly connectionMaximum = shareOf(maximum),
  ) {}

  /** Requests in work. */
  get size(): number {
    return this.working.size;
  }

  /**
   * Counts a request until its response is ended or closed; false where it is one too many, for all
   * or for its connection, and must be refused.
   */
  enter(response: ServerResponse): boolean {
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
