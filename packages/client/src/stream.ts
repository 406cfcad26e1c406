import { CatalogueConnectionError } from './errors.js';
import { Lazy } from './lazy.js';
import { type CallOptions, type ListQuery, type Transport, updatedUntil } from './transport.js';

/** A whole list of one moment, whose objects come as they are read. It can be iterated once. */
export interface ObjectStream<T> extends AsyncIterable<T> {
  /** The number of all objects that match, whatever `limit` and `offset` are. */
  readonly count: number;
  /** A time before which no change is missing from the list. */
  readonly updatedUntil: string | undefined;
}

/** A whole list. `for await` gives its objects. `await` gives it with its count, once it has begun. */
export class WholeList<T> extends Lazy<ObjectStream<T>> implements AsyncIterable<T> {
  constructor(
    private readonly transport: Transport,
    private readonly path: string,
    private readonly query: ListQuery,
    private readonly options: CallOptions = {},
  ) {
    super();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    yield* await this.begin();
  }

  protected async begin(): Promise<ObjectStream<T>> {
    const response = await this.transport.stream(this.path, this.query, this.options);
    const count = Number(response.headers.get('X-Total-Count') ?? NaN);
    if (Number.isNaN(count)) {
      throw new CatalogueConnectionError(`The response of ${response.url} is not a whole list`);
    }
    const objects = this.objectsOf(response, count);
    return {
      count,
      updatedUntil: updatedUntil(response),
      [Symbol.asyncIterator]: () => objects,
    };
  }

  /** @throws CatalogueConnectionError if the list ends before its last object */
  private async *objectsOf(response: Response, count: number): AsyncGenerator<T, void, undefined> {
    const { limit = Infinity, offset = 0, after } = this.query;
    const expected = Math.min(limit, Math.max(0, count - offset));
    let objects = 0;
    for await (const line of this.linesOf(response)) {
      yield JSON.parse(line) as T;
      // fetch of Node.js 20 never answers a read after an abort between the last part of a body and its end.
      this.transport.throwIfAborted(this.options);
      objects += 1;
    }
    // Where the list begins behind an object, the number of objects before it is not known.
    if (after === undefined && objects !== expected) {
      throw new CatalogueConnectionError(`The list ended after ${objects} of ${expected} objects`);
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
      // Of a list that was read to its end this does nothing.
      reader.cancel().catch(() => undefined);
    }
    if (rest !== '') throw new CatalogueConnectionError('The list ended within an object');
  }
}
