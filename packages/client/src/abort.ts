/** Rejects with its reason when one of the signals is aborted first. */
export async function unlessAborted<T>(
  work: Promise<T>,
  signals: readonly AbortSignal[],
): Promise<T> {
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- any reason is possible
      reject(signals.find((signal) => signal.aborted)?.reason);
    };
  });
  for (const signal of signals) signal.addEventListener('abort', abort);
  if (signals.some((signal) => signal.aborted)) abort();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', abort);
  }
}

/** Throws the reason if one of the signals has been aborted. */
export function throwIfAborted(signals: readonly AbortSignal[]): void {
  for (const signal of signals) signal.throwIfAborted();
}

/** Milliseconds that a timer can take: one of more ends at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;
