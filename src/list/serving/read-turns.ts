import type { Response } from 'express';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import { busy } from '../../http/errors.js';
import { KeyedLimit } from '../../http/keyed-limit.js';

/** Milliseconds that a read waits for its client's turn, as long as it would for a connection. */
const PATIENCE = 5000;

/**
 * Shares the connections to the database among clients: one client reads a bounded number of pages
 * and objects at a time, and its others wait in order, so that other clients find a connection.
 */
export class ReadTurns {
  private readonly running: KeyedLimit;
  /** By client, in order, what starts each read that waits. */
  private readonly waiting = new Map<string, Set<() => void>>();

  /** @param maximum reads of one client at a time */
  constructor(
    maximum: number,
    private readonly patience = PATIENCE,
  ) {
    this.running = new KeyedLimit(maximum);
  }

  /**
   * Reads when it is the client's turn.
   *
   * @throws ApiError `-4` where the turn does not come in time
   */
  async take<T>(client: string, read: () => Promise<T>): Promise<T> {
    if (!this.running.enter(client)) await this.turn(client);
    try {
      return await read();
    } finally {
      this.pass(client);
    }
  }

  /**
   * Reads for a request.
   *
   * @throws ApiError `-4` also where the client went away while the request waited
   */
  takeFor<T>(request: CatalogueRequest, response: Response, read: () => Promise<T>): Promise<T> {
    return this.take(clientOf(request), () => {
      if (response.destroyed) throw busy();
      return read();
    });
  }

  private turn(client: string): Promise<void> {
    const queue = this.waiting.get(client) ?? new Set<() => void>();
    this.waiting.set(client, queue);
    return new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        queue.delete(start);
        reject(busy());
      }, this.patience);
      queue.add(start);
    });
  }

  /** Gives a place to the next read of the client, or back. */
  private pass(client: string): void {
    const queue = this.waiting.get(client);
    const [start] = queue ?? [];
    if (queue && start) {
      queue.delete(start);
      start();
      return;
    }
    this.waiting.delete(client);
    this.running.leave(client);
  }
}

/** What the shares of a client are counted by. */
export function clientOf({ client }: CatalogueRequest): string {
  return client?.clientID ?? '';
}
