import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Coalesced } from '../../database/coalesced.js';
import type { State } from './prepared-list.js';

/** Milliseconds between two looks at the versions. */
const PERIOD = 100;

interface Waiter {
  /** The version that it has seen. */
  readonly version: string;
  /** The `performance.now()` value at which the time is over. */
  readonly deadline: number;
  readonly end: () => void;
}

/** Looks ten times a second whether versions have changed, for all who wait for that. */
@Injectable()
export class VersionWatch implements OnModuleDestroy {
  private readonly waiting = new Map<Coalesced<State>, Set<Waiter>>();
  /** The queries that run: a database that does not respond gets one of each. */
  private readonly looking = new Set<Coalesced<State>>();
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  /**
   * Waits until a version is another one or cannot be looked up, or the time is over.
   *
   * @param query looks up the version
   * @param listener called once, later
   * @returns a function that ends the wait
   */
  wait(
    query: Coalesced<State>,
    version: string,
    seconds: number,
    listener: () => void,
  ): () => void {
    const waiters = this.waiting.get(query) ?? new Set();
    this.waiting.set(query, waiters);
    const end = (): void => {
      if (waiters.delete(waiter)) listener();
    };
    const deadline = performance.now() + seconds * 1000 - PERIOD / 2;
    const waiter: Waiter = { version, deadline, end };
    waiters.add(waiter);
    if (this.isClosed) setImmediate(end);
    this.timer ??= this.lookLater();
    return end;
  }

  /** Ends all waits, and any further one at once: the server closes after their answers. */
  onModuleDestroy(): void {
    this.isClosed = true;
    for (const waiters of this.waiting.values()) for (const { end } of waiters) end();
  }

  private lookLater(): NodeJS.Timeout {
    return setTimeout(() => {
      const now = performance.now();
      for (const [query, waiters] of this.waiting) {
        for (const { deadline, end } of waiters) if (now >= deadline) end();
        if (waiters.size === 0) this.waiting.delete(query);
        else if (!this.looking.has(query)) void this.look([...waiters], query);
      }
      this.timer = this.waiting.size > 0 ? this.lookLater() : undefined;
    }, PERIOD).unref();
  }

  /** @param waiters none who came during the query, and may have seen a later version */
  private async look(waiters: readonly Waiter[], query: Coalesced<State>): Promise<void> {
    this.looking.add(query);
    // Requests that run again get the error.
    const state = await query.result().catch(() => undefined);
    this.looking.delete(query);
    for (const { version, end } of waiters) if (state?.version !== version) end();
  }
}
