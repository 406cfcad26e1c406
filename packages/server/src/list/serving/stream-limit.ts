import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { errors } from '../../http/errors.js';
import { KeyedLimit } from '../../http/client-limits.js';
import { Settings } from '../../settings/settings.js';
import type { OpenList, WholeList } from '../reading/prepared-list.js';
import { halfOfPool } from './read-limit.js';

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
    patience = 0,
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
