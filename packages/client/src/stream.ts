import { CatalogueConnectionError } from './envelope.js';
import { Lazy, type ListQuery } from './list.js';
import {
  type CallOptions,
  type Opened,
  totalOf,
  type Transport,
  updatedUntil,
} from './transport.js';

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
    const { exchange, response } = await this.transport.stream(this.path, this.query, this.options);
    const count = totalOf(response);
    let isIterated = false;
    return {
      count,
      updatedUntil: updatedUntil(response),
      [Symbol.asyncIterator]: () => {
        if (isIterated) throw new TypeError('A stream can be iterated only once');
        isIterated = true;
        return this.objectsOf({ exchange, response }, count);
      },
    };
  }

  private objectsOf(opened: Opened, count: number): AsyncGenerator<T, void, undefined> {
    const { limit = Infinity, offset = 0, after } = this.query;
    // Where the list begins behind an object, the number of objects before it is not known.
    const expected = after === undefined ? Math.min(limit, Math.max(0, count - offset)) : undefined;
    return valuesOf<T>(opened, this.transport, this.options, expected);
  }
}

/**
 * The values of the lines of a response.
 *
 * @throws CatalogueConnectionError if a line is damaged, or if there are not as many as expected
 */
export async function* valuesOf<T>(
  { exchange, response }: Opened,
  transport: Transport,
  options: CallOptions,
  expected: number | undefined,
): AsyncGenerator<T, void, undefined> {
  let values = 0;
  for await (const line of linesOf(exchange.texts(response))) {
    yield parsed(line) as T;
    // The lines that have been read are not given after an abort.
    transport.throwIfAborted(options);
    values += 1;
  }
  if (expected !== undefined && values !== expected) {
    throw new CatalogueConnectionError(`The stream ended after ${values} of ${expected} objects`);
  }
}

async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const text of texts) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  // An object that is not whole is a damaged line.
  if (rest !== '') yield rest;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new CatalogueConnectionError('A line of the stream is damaged', { cause });
  }
}
