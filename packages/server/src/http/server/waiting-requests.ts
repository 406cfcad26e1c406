import { setTimeout as sleep } from 'node:timers/promises';
import type { CatalogueRequest } from '../catalogue-request.js';
import { onLeave } from './admission.js';

/** Milliseconds between two looks whether there is room, and for which a request looks. */
const [PAUSE, LONGEST_PAUSE] = [1, 20_000];

/** Requests that wait for a change. They are not in work, and run again one after the other as there is room. */
export class WaitingRequests {
  /** The number of requests that wait. */
  size = 0;
  private running = 0;
  private turn = Promise.resolve();

  /** @param hasRoom whether one more may run again beside as many */
  constructor(private readonly hasRoom: (running: number) => boolean) {}

  /**
   * Resolves when a request that has left those in work is to run again.
   *
   * @param later resolves when its wait is over
   * @returns whether its connection is still open
   */
  async wait({ res, waited }: CatalogueRequest, later: Promise<void>): Promise<boolean> {
    this.size += 1;
    await later;
    const latest = performance.now() + LONGEST_PAUSE;
    const isDue = (): boolean =>
      res.destroyed || performance.now() > latest || this.hasRoom(this.running);
    // All requests for a list end their waits at the same time.
    await (this.turn = this.turn.then(async () => {
      while (!isDue()) await sleep(PAUSE);
    }));
    this.size -= 1;
    if (waited) waited.ended = performance.now();
    if (res.destroyed) return false;
    this.running += 1;
    onLeave(res, () => {
      this.running -= 1;
    });
    return true;
  }
}
