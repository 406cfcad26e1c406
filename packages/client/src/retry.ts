import type { CatalogueError } from './errors.js';

/** Whether and when a request is sent again. */
export interface RetryOptions {
  /** How often a request is sent again if the service says when (`-2`, `-3`, `-4`, `-40`). Default: 3. */
  readonly maxRetries?: number;
  /**
   * Milliseconds after which a request is not sent again. An error whose `Retry-After` would exceed them is
   * thrown at once. Default: 90,000.
   */
  readonly maxRetryTime?: number;
  /** Called before each pause, which lasts `error.retryAfter` seconds. */
  readonly onRetry?: (error: CatalogueError) => void;
}

/** The errcodes of temporary errors. */
export const RETRIED: ReadonlySet<string> = new Set(['-2', '-3', '-4', '-40']);

/** Milliseconds that a timer can take: one of more ends at once. */
const LONGEST_PAUSE = 2 ** 31 - 1;

/**
 * Sends a request, and sends it again while the error is temporary and says when.
 *
 * @returns the response, which is no error response
 * @throws the last error, what `send` and `errorOf` throw, or the reason of an abort
 */
export async function sendWithRetries(
  send: () => Promise<Response>,
  errorOf: (response: Response) => Promise<CatalogueError>,
  { maxRetries = 3, maxRetryTime = 90_000, onRetry }: RetryOptions,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const end = performance.now() + maxRetryTime;
  for (let retries = 0; ; retries += 1) {
    const response = await send();
    if (response.ok || response.status === 304) return response;
    const error = await errorOf(response);
    if (!isRetried(error) || retries >= maxRetries) throw error;
    const pause = error.retryAfter * 1000;
    if (performance.now() + pause > end || pause > LONGEST_PAUSE) throw error;
    onRetry?.(error);
    await sleep(pause, signal);
  }
}

function isRetried(error: CatalogueError): error is CatalogueError & { retryAfter: number } {
  return RETRIED.has(error.errcode) && error.retryAfter !== undefined;
}

/** Rejects when the signal is aborted. */
function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = (): void => {
      clearTimeout(timer);
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- any reason is possible
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
