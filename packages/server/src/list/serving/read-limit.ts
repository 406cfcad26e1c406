import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CatalogueRequest } from '../../http/request.js';
import { errors } from '../../http/errors.js';
import { KeyedLimit } from '../../http/client-limits.js';
import { traced } from '../../http/observation.js';
import { Settings } from '../../settings/settings.js';
import type { OpenList, WholeList } from '../reading/prepared-list.js';

/** Maximum number of connections for whole lists, and for one client's reads of one resource. */
function halfOfPool({ poolSize }: Settings): number {
  return Math.ceil(poolSize / 2);
}

interface WaitingRead {
  readonly client: string;
  readonly resource: string;
  readonly start: () => void;
}

/**
 * Limits how many pages and objects one client reads at a time, in all and of each resource, so that other
 * clients and reads of other resources get a connection to the database. Further reads of the client wait in a
 * queue.
 */
@Injectable()
export class ReadLimit {
  /** Milliseconds that a read waits in the queue; as long as for a connection of the pool. */
  readonly timeout = 5000;
  private readonly ofClients: KeyedLimit;
  /** By client and resource. */
  private readonly ofResources: KeyedLimit;
  /** In the order in which they came. */
  private readonly waiting = new Set<WaitingRead>();

  constructor(settings: Settings) {
    const ofResource = halfOfPool(settings);
    // Reads of a resource that wait for a lock leave room for those of others.
    const spared = ofResource + 1 < settings.poolSize ? 1 : 0;
    this.ofResources = new KeyedLimit(ofResource);
    this.ofClients = new KeyedLimit(ofResource + spared);
  }

  /**
   * Runs a read for a request, after those in the client's queue that may run.
   *
   * @throws ApiError `-4` if it waits longer than the timeout, or the client disconnects meanwhile
   */
  async run<T>(resource: string, request: CatalogueRequest, read: () => Promise<T>): Promise<T> {
    const client = clientOf(request);
    if (!this.enter(client, resource)) {
      await traced(request, 'queue', () => this.wait(client, resource));
    }
    try {
      if (request.res.destroyed) throw errors.busy();
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
    return new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const read = { client, resource, start };
      const timer = setTimeout(() => {
        this.waiting.delete(read);
        reject(errors.busy());
      }, this.timeout);
      this.waiting.add(read);
    });
  }

  /** Ends a read, and starts the first one of the client that waits and may run. */
  private leave(client: string, resource: string): void {
    this.ofResources.leave(keyOf(client, resource));
    this.ofClients.leave(client);
    for (const read of this.waiting) {
      if (read.client !== client || !this.enter(client, read.resource)) continue;
      this.waiting.delete(read);
      read.start();
      return;
    }
  }
}

function keyOf(client: string, resource: string): string {
  return `${resource} ${client}`;
}

/**
 * The key of a request's client for limits of reads; empty on a route without credentials. All who share the token of a public
 * client are one here, since they share its part of the pool; `limitKey` tells them apart by their addresses.
 */
export function clientOf({ client }: CatalogueRequest): string {
  return client?.clientID ?? '';
}

/** Milliseconds between two looks whether there is room. */
const PAUSE = 5;

/** Limits the number of whole lists that are read at a time. Each holds a connection to the database. */
@Injectable()
export class StreamLimit {
  /** The number of whole lists that are being read. */
  size = 0;
  readonly maximum: number;
  private readonly clients: KeyedLimit;

  constructor(settings: Settings) {
    this.maximum = halfOfPool(settings);
    this.clients = new KeyedLimit(settings.maxStreamsPerClient);
  }

  /** @throws ApiError `-4` if one more list of a client would exceed a limit */
  requireRoom(client: string): void {
    if (!this.hasRoom(client)) throw errors.busy();
  }

  private hasRoom(client: string): boolean {
    return this.size < this.maximum && this.clients.hasRoom(client);
  }

  /**
   * Opens a list for a client.
   *
   * @param signal is aborted when the client disconnects
   * @param patience milliseconds for which it waits for room
   * @throws ApiError `-4` if the list exceeds a limit
   */
  async open(
    whole: WholeList,
    client: string,
    signal: AbortSignal,
    patience: number,
  ): Promise<OpenList> {
    const latest = performance.now() + patience;
    while (!this.hasRoom(client) && performance.now() < latest && !signal.aborted)
      await sleep(PAUSE);
    this.requireRoom(client);
    this.clients.enter(client);
    this.size += 1;
    const leave = (): void => {
      this.size -= 1;
      this.clients.leave(client);
    };
    try {
      const list = await whole.open(signal);
      let closing: Promise<void> | undefined;
      const close = (): Promise<void> => (closing ??= list.close().finally(leave));
      return { ...list, close };
    } catch (error) {
      leave();
      // Not a failure if the client disconnected: opening was cancelled.
      throw signal.aborted ? errors.busy() : error;
    }
  }
}
