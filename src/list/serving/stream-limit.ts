import { busy } from '../../http/errors.js';
import { KeyedLimit } from '../../http/keyed-limit.js';
import type { OpenList, WholeList } from '../prepared-list.js';

export interface StreamLimits {
  /** Lists read whole at the same time; each holds a connection to the database. */
  readonly total: number;
  /** The same for each client. */
  readonly perClient: number;
  /** Milliseconds after which a list is cut off; 0 for no limit. */
  readonly timeout: number;
  /** Milliseconds after which a list is cut off whose reader takes nothing. */
  readonly stallTimeout: number;
}

/** Bounds how many lists are read whole at the same time. */
export class StreamLimit {
  private running = 0;
  private readonly clients: KeyedLimit;

  constructor(readonly limits: StreamLimits) {
    this.clients = new KeyedLimit(limits.perClient);
  }

  /** Lists that are being read whole. */
  get size(): number {
    return this.running;
  }

  /**
   * Opens a list for a client.
   *
   * @param signal is aborted when its reader is gone
   * @throws ApiError `-4` where it is one too many
   */
  async open(whole: WholeList, client: string, signal: AbortSignal): Promise<OpenList> {
    if (this.running >= this.limits.total || !this.clients.enter(client)) throw busy();
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
      // With nobody there to be answered, nothing went wrong.
      throw signal.aborted ? busy() : error;
    }
  }
}
