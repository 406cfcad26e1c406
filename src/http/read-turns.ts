import { busy } from './errors.js';

/** Milliseconds that a page waits for its client's turn, as long as it would for a connection. */
const PATIENCE = 5000;

interface Waiting {
  readonly start: () => void;
}

/**
 * Shares the connections to the database among clients: of one client's pages, a bounded number are
 * read at a time and the others wait in order, so that those of other clients find a connection.
 */
export class ReadTurns {
  private readonly running = new Map<string, number>();
  private readonly waiting = new Map<string, Set<Waiting>>();

  /** @param maximum pages of one client that are read at a time */
  constructor(
    private readonly maximum: number,
    private readonly patience = PATIENCE,
  ) {}

  /**
   * Reads a page when it is its client's turn.
   *
   * @throws ApiError `-4` where the turn does not come in time
   */
  async take<T>(client: string, read: () => Promise<T>): Promise<T> {
    const running = this.running.get(client) ?? 0;
    if (running < this.maximum) this.running.set(client, running + 1);
    else await this.turn(client);
    try {
      return await read();
    } finally {
      this.pass(client);
    }
  }

  private turn(client: string): Promise<void> {
    const queue = this.waiting.get(client) ?? new Set<Waiting>();
    this.waiting.set(client, queue);
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        start: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        queue.delete(waiting);
        reject(busy());
      }, this.patience);
      queue.add(waiting);
    });
  }

  /** Gives a place to the next page of the client, or back. */
  private pass(client: string): void {
    const queue = this.waiting.get(client);
    const [next] = queue ?? [];
    if (queue && next) {
      queue.delete(next);
      next.start();
      return;
    }
    this.waiting.delete(client);
    const running = this.running.get(client) ?? 0;
    if (running > 1) this.running.set(client, running - 1);
    else this.running.delete(client);
  }
}
