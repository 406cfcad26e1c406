import type { Response } from 'express';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import { errors } from '../../http/errors.js';
import { traced } from '../../http/request-trace.js';
import { KeyedLimit } from '../../http/keyed-limit.js';
import type { PreparedPage } from '../reading/prepared-list.js';

/** Milliseconds that a read waits in the queue; as long as for a connection of the pool. */
const TIMEOUT = 5000;

/** Maximum numbers of reads of one client at a time. */
interface Maximum {
  readonly ofClient: number;
  /** Below `ofClient`, so that reads of a resource that wait for a lock leave room for those of others. */
  readonly ofResource: number;
}

interface WaitingRead {
  readonly resource: string;
  readonly start: () => void;
}

/**
 * Limits how many pages and objects one client reads at a time, in all and of each resource, so that other
 * clients and reads of other resources get a connection to the database. Further reads of the client wait in a
 * queue.
 */
export class ReadLimit {
  private readonly ofClients: KeyedLimit;
  /** By client and resource. */
  private readonly ofResources: KeyedLimit;
  /** The waiting reads in order, by client. */
  private readonly waiting = new Map<string, WaitingRead[]>();

  /** @param timeout milliseconds that a read waits in the queue */
  constructor(
    maximum: Maximum,
    private readonly timeout = TIMEOUT,
  ) {
    this.ofClients = new KeyedLimit(maximum.ofClient);
    this.ofResources = new KeyedLimit(maximum.ofResource);
  }

  /**
   * Runs a read for a request, after those in the client's queue that may run.
   *
   * @throws ApiError `-4` if it waits longer than the timeout, or the client disconnects meanwhile
   */
  async run<T>(
    { resource }: Pick<PreparedPage, 'resource'>,
    request: CatalogueRequest,
    response: Response,
    read: () => Promise<T>,
  ): Promise<T> {
    const client = clientOf(request);
    if (!this.enter(client, resource)) {
      await traced(request, 'queue', () => this.wait(client, resource));
    }
    try {
      if (response.destroyed) throw errors.busy();
      return await traced(request, 'query', read);
    } finally {
      this.leave(client, resource);
    }
  }

  private enter(client: string, resource: string): boolean {
    if (!this.ofClients.enter(client)) return false;
    if (this.ofResources.enter(keyOf(client, resource))) return true;
    this.ofClients.leave(client);
    return false;
  }

  private wait(client: string, resource: string): Promise<void> {
    const queue = this.waiting.get(client) ?? [];
    this.waiting.set(client, queue);
    return new Promise((resolve, reject) => {
      const read: WaitingRead = {
        resource,
        start: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(read), 1);
        reject(errors.busy());
      }, this.timeout);
      queue.push(read);
    });
  }

  /** Ends a read, and starts the first read in the client's queue that may run. */
  private leave(client: string, resource: string): void {
    this.ofResources.leave(keyOf(client, resource));
    this.ofClients.leave(client);
    const queue = this.waiting.get(client) ?? [];
    const at = queue.findIndex((read) => this.enter(client, read.resource));
    if (at >= 0) queue.splice(at, 1)[0]?.start();
    if (queue.length === 0) this.waiting.delete(client);
  }
}

function keyOf(client: string, resource: string): string {
  return `${resource} ${client}`;
}

/** The key of a request's client for `KeyedLimit`; empty on a route without credentials. */
export function clientOf({ client }: CatalogueRequest): string {
  return client?.clientID ?? '';
}
