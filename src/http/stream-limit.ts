import { busy } from './errors.js';
import type { OpenList, WholeList } from './listing.js';

/** Bounds how many lists are read whole at the same time: each holds a connection to the database. */
export class StreamLimit {
  private running = 0;

  /** @param most one more is refused */
  constructor(private readonly most: number) {}

  async open(whole: WholeList, signal: AbortSignal): Promise<OpenList> {
    if (this.running >= this.most) throw busy();
    this.running += 1;
    try {
      const list = await whole.open(signal);
      let closing: Promise<void> | undefined;
      const close = (): Promise<void> => (closing ??= list.close().finally(this.leave));
      return { ...list, close };
    } catch (error) {
      this.leave();
      // With nobody there to be answered, nothing went wrong.
      throw signal.aborted ? busy() : error;
    }
  }

  private readonly leave = (): void => {
    this.running -= 1;
  };
}
