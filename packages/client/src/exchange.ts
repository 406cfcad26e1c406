import { CatalogueConnectionError } from './envelope.js';

/**
 * A request and its response. Both end when a signal is aborted, or when no data arrives within the time-out.
 * Each part of the response restarts the time-out.
 */
export class Exchange {
  private readonly controller = new AbortController();

  /** @param timeout milliseconds */
  constructor(
    private readonly base: string,
    private readonly timeout: number,
    private readonly signals: readonly AbortSignal[],
  ) {
    // Not by AbortSignal.any, of which a signal that lives long keeps something for each request.
    for (const signal of signals) signal.addEventListener('abort', this.abort);
  }

  /** @throws CatalogueConnectionError, or the reason of an abort */
  open(send: (signal: AbortSignal) => Promise<Response>): Promise<Response> {
    return this.wait(
      send(this.controller.signal),
      `The catalogue at ${this.base} cannot be reached`,
    );
  }

  async text(response: Response): Promise<string> {
    let text = '';
    for await (const part of this.texts(response)) text += part;
    return text;
  }

  /**
   * The body in parts, as they come.
   *
   * @throws CatalogueConnectionError, or the reason of an abort
   */
  async *texts(response: Response): AsyncGenerator<string, void, undefined> {
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    try {
      while (reader) {
        const { done, value } = await this.wait(reader.read(), 'The response ended early');
        if (done) return;
        yield decoder.decode(value, { stream: true });
      }
    } finally {
      // Of a body that was read to its end this does nothing.
      reader?.cancel().catch(() => undefined);
      this.end();
    }
  }

  /** To be called once neither more of the response nor an abort matters. */
  end(): void {
    for (const signal of this.signals) signal.removeEventListener('abort', this.abort);
  }

  /** In Node.js 20, a read that is pending when its request is aborted may never settle. */
  private async wait<T>(part: Promise<T>, failure: string): Promise<T> {
    const { base, controller, timeout } = this;
    const timer = setTimeout(
      () => {
        const message = `The catalogue at ${base} sent nothing for ${timeout} ms`;
        controller.abort(new CatalogueConnectionError(message));
      },
      Math.min(timeout, LONGEST_TIMER),
    );
    try {
      return await unlessAborted(part, [controller.signal]);
    } catch (cause) {
      this.end();
      controller.signal.throwIfAborted();
      throw new CatalogueConnectionError(failure, { cause });
    } finally {
      clearTimeout(timer);
    }
  }

  private readonly abort = (): void => {
    this.controller.abort(this.signals.find(({ aborted }) => aborted)?.reason);
  };
}

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
