import { errors } from '../../http/errors.js';
import { KeyedLimit } from '../../http/keyed-limit.js';
import type { OpenList, WholeList } from '../reading/prepared-list.js';

export interface StreamLimits {
  /** Maximum number of whole lists at a time. Each holds a connection to the database. */
  readonly total: number;
  /** Maximum number of whole lists at a time for one client. */
  readonly perClient: number;
  /** Milliseconds after which a list is aborted; 0 for no limit. */
  readonly timeout: number;
  /** Milliseconds after which a list is aborted if its reader reads nothing. */
  readonly stallTimeout: number;
}

/** Limits the number of whole lists that are read at a time. */
export class StreamLimit {
  private running = 0;
  private readonly clients: KeyedLimit;

  constructor(readonly limits: StreamLimits) {
    this.clients = new KeyedLimit(limits.perClient);
  }

  /** The number of whole lists that are being read. */
  get size(): number {
    return this.running;
  }

  /** @throws ApiError `-4` if one more list of a client would exceed a limit */
  requireRoom(client: string): void {
    if (this.running >= this.limits.total || !this.clients.hasRoom(client)) throw errors.busy();
  }

  /**
   * Opens a list for a client.
   *
   * @param signal is aborted when the client disconnects
   * @throws ApiError `-4` if the list exceeds a limit
   */
  async open(whole: WholeList, client: string, signal: AbortSignal): Promise<OpenList> {
    this.requireRoom(client);
    this.clients.enter(client);
    this.running += 1;
    const leave = (): void => {
      this.running -= 1;
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
