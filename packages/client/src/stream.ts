import { CatalogueConnectionError } from './errors.js';
import { Lazy } from './lazy.js';
import type { ListQuery } from './list.js';
import { type CallOptions, type Transport, updatedUntil } from './transport.js';

/** A stream whose response has begun. It can be iterated once. */
export interface OpenedStream<T> extends AsyncIterable<T> {
  /** The number of all objects that match, whatever `limit` and `offset` are. */
  readonly count: number;
  /** Every change made before this time is in the response. */
  readonly updatedUntil: string | undefined;
}

/**
 * A list of one moment, whose objects come as they are read. `for await` gives its objects. `await` gives it
 * with its count, once the response has begun; it must then be iterated or aborted. Both are of one request.
 */
export class ObjectStream<T> extends Lazy<OpenedStream<T>> implements AsyncIterable<T> {
  constructor(
    private readonly transport: Transport,
    private readonly path: string,
    private readonly query: ListQuery,
    private readonly options: CallOptions = {},
  ) {
    super();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    yield* await this;
  }

  protected async begin(): Promise<OpenedStream<T>> {
    const response = await this.transport.stream(this.path, this.query, this.options);
    const count = Number(response.headers.get('X-Total-Count') ?? NaN);
    if (Number.isNaN(count)) {
      response.body?.cancel().catch(() => undefined);
      throw new CatalogueConnectionError(`The response of ${response.url} is not a stream`);
    }
    let isIterated = false;
    return {
      count,
      updatedUntil: updatedUntil(response),
      [Symbol.asyncIterator]: () => {
        if (isIterated) throw new TypeError('A stream can be iterated only once');
        isIterated = true;
        return this.objectsOf(response, count);
      },
    };
  }

  /** @throws CatalogueConnectionError if a line is damaged, or the response ends before its last object */
  private async *objectsOf(response: Response, count: number): AsyncGenerator<T, void, undefined> {
    const { limit = Infinity, offset = 0, after } = this.query;
    const expected = Math.min(limit, Math.max(0, count - offset));
    let objects = 0;
    for await (const line of this.linesOf(response)) {
      yield parsed(line) as T;
      // The lines that have been read are not given after an abort.
      this.transport.throwIfAborted(this.options);
      objects += 1;
    }
    // Where the list begins behind an object, the number of objects before it is not known.
    if (after === undefined && objects !== expected) {
      throw new CatalogueConnectionError(
        `The stream ended after ${objects} of ${expected} objects`,
      );
    }
  }

  private async *linesOf({ body }: Response): AsyncGenerator<string, void, undefined> {
    if (!body) return;
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for (;;) {
        const { done, value } = await this.transport.read(reader.read(), this.options.signal);
        if (done) break;
        const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        yield* lines;
      }
    } finally {
      // Of a stream that was read to its end this does nothing.
      reader.cancel().catch(() => undefined);
    }
    if (rest !== '') throw new CatalogueConnectionError('The stream ended within an object');
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new CatalogueConnectionError('A line of the stream is damaged', { cause });
  }
}
