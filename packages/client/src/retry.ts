import { LONGEST_TIMER, throwIfAborted, unlessAborted } from './exchange.js';
import { CatalogueConnectionError, CatalogueError, hasErrcode } from './envelope.js';

/** Whether and when a request is sent again. */
export interface RetryOptions {
  /**
   * How often a request is sent again: after the temporary errors of the service (`-2`, `-3`, `-4`, `-40`)
   * when it says, and after a `CatalogueConnectionError`. Default: 3.
   */
  readonly maxRetries?: number;
  /**
   * Milliseconds after which a request is not sent again. An error whose pause would exceed them is thrown
   * at once. Default: 90,000.
   */
  readonly maxRetryTime?: number;
  /** Called before each pause, with its milliseconds. */
  readonly onRetry?: (error: CatalogueError | CatalogueConnectionError, pause: number) => void;
}

/** The errcodes of temporary errors. */
export const RETRIED = ['-2', '-3', '-4', '-40'];

/** Milliseconds of the shortest and the longest pause after a failed connection, as of Stripe's client. */
const SHORTEST_PAUSE = 500;
const LONGEST_PAUSE = 5000;

/**
 * Sends a request, and sends it again while its error is temporary.
 *
 * @param send throws CatalogueError and CatalogueConnectionError
 * @throws the last error of `send`, or the reason of an abort
 */
export async function withRetries<T>(
  send: () => Promise<T>,
  { maxRetries = 3, maxRetryTime = 90_000, onRetry }: RetryOptions,
  signals: readonly AbortSignal[],
): Promise<T> {
  const end = performance.now() + maxRetryTime;
  for (let retries = 0; ; retries += 1) {
    throwIfAborted(signals);
    try {
      return await send();
    } catch (error) {
      throwIfAborted(signals);
      const pause = pauseAfter(error, retries);
      const isLast = retries >= maxRetries || performance.now() + pause > end;
      if (isLast || pause > LONGEST_TIMER) throw error;
      onRetry?.(error as CatalogueError | CatalogueConnectionError, pause);
      await sleep(pause, signals);
    }
  }
}

/**
 * Milliseconds, `Infinity` after an error that is not temporary. Those after a failed connection are random, so that
 * clients do not come back all at once.
 */
function pauseAfter(error: unknown, retries: number): number {
  if (error instanceof CatalogueConnectionError) {
    const longest = Math.min(SHORTEST_PAUSE * 2 ** (retries + 1), LONGEST_PAUSE);
    return (longest / 2) * (1 + Math.random());
  }
  return hasErrcode(error, ...RETRIED) ? (error.retryAfter ?? Infinity) * 1000 : Infinity;
}

export async function sleep(milliseconds: number, signals: readonly AbortSignal[]): Promise<void> {
  let timer;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
  try {
    await unlessAborted(over, signals);
  } finally {
    clearTimeout(timer);
  }
}
