import type { Response } from 'express';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import { errors } from '../../http/errors.js';
import { traced } from '../../http/request-trace.js';
import { KeyedLimit } from '../../http/keyed-limit.js';

/** Milliseconds that a read waits in the queue; as long as for a connection of the pool. */
const TIMEOUT = 5000;

/**
 * Limits how many pages and objects one client reads at a time, so that other clients get a
 * connection to the database. Further reads of the client wait in a queue.
 */
export class ReadLimit {
  private readonly running: KeyedLimit;
  /** The callbacks that start the waiting reads, in order, by client. */
  private readonly waiting = new Map<string, (() => void)[]>();

  /**
   * @param maximum reads of one client at a time
   * @param timeout milliseconds that a read waits in the queue
   */
  constructor(
    maximum: number,
    private readonly timeout = TIMEOUT,
  ) {
    this.running = new KeyedLimit(maximum);
  }

  /**
   * Runs a read of a client, after those in the queue.
   *
   * @param request whose trace has the wait
   * @throws ApiError `-4` if it waits longer than the timeout
   */
  async run<T>(
    client: string,
    read: () => Promise<T>,
    request: Pick<CatalogueRequest, 'trace'> = {},
  ): Promise<T> {
    if (!this.running.enter(client)) await traced(request, 'queue', () => this.wait(client));
    try {
      return await read();
    } finally {
      this.leave(client);
    }
  }

  /**
   * Runs a read for a request.
   *
   * @throws ApiError `-4` also if the client disconnected while the read waited
   */
  runFor<T>(request: CatalogueRequest, response: Response, read: () => Promise<T>): Promise<T> {
    const readUnlessGone = (): Promise<T> => {
      if (response.destroyed) throw errors.busy();
      return traced(request, 'query', read);
    };
    return this.run(clientOf(request), readUnlessGone, request);
  }

  private wait(client: string): Promise<void> {
    const queue = this.waiting.get(client) ?? [];
    this.waiting.set(client, queue);
    return new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(start), 1);
        reject(errors.busy());
      }, this.timeout);
      queue.push(start);
    });
  }

  /** Starts the next read in the client's queue; if it is empty, decrements the client's count. */
  private leave(client: string): void {
    const start = this.waiting.get(client)?.shift();
    if (start) {
      start();
      return;
    }
    this.waiting.delete(client);
    this.running.leave(client);
  }
}

/** The key of a request's client for `KeyedLimit`; empty on a route without credentials. */
export function clientOf({ client }: CatalogueRequest): string {
  return client?.clientID ?? '';
}
