import { hasErrcode } from './errors.js';
import { withIdentifier } from './fields.js';
import { ObjectStream } from './stream.js';
import type { CallOptions, Transport } from './transport.js';

/** Where a copy of a resource is kept. Each method may return a promise, which is waited for. */
export interface MirrorStore<T> {
  /** Deletes all objects: a new copy begins. */
  readonly clear: () => unknown;
  /** Inserts objects, or replaces those with the same identifiers. */
  readonly put: (objects: readonly T[]) => unknown;
  /** Deletes the objects with these identifiers, if they are there. */
  readonly delete: (identifiers: readonly string[]) => unknown;
}

/** An object with its identifier. */
type Identified = Readonly<Record<string, string>>;

/** Most objects that a store gets at a time. */
const BATCH_SIZE = 1000;

interface Mirror<T> {
  readonly transport: Transport;
  /** Of the resource. */
  readonly name: string;
  readonly identifier: string;
  readonly store: MirrorStore<T>;
  /** What an earlier round returned; `undefined` for a new copy. */
  readonly cursor: string | undefined;
  readonly fields: readonly string[] | undefined;
}

/**
 * Brings a copy up to date, as "Keeping a copy" in docs/api.md of the service tells a client to.
 *
 * @returns the cursor for the next round; `undefined` if that has to begin again
 */
export async function mirror<T>(
  { transport, name, identifier, store, cursor, fields }: Mirror<T>,
  options?: CallOptions,
): Promise<string | undefined> {
  const read = async (path: string, query: object, take: (batch: Identified[]) => unknown) => {
    const stream = await new ObjectStream<Identified>(transport, path, query, options);
    for await (const batch of batchesOf(stream)) await take(batch);
    return stream.updatedUntil;
  };
  const put = (query: object) =>
    read(`/${name}`, { ...query, fields: withIdentifier(fields, identifier) }, (objects) =>
      store.put(objects as T[]),
    );

  if (cursor !== undefined) {
    // In this order: an object that was deleted and exists again is not listed as deleted.
    try {
      const changed = await put({ updatedSince: cursor });
      await read(`/deletions/${name}`, { deletedSince: cursor, fields: [identifier] }, (objects) =>
        store.delete(objects.map((object) => object[identifier] ?? '')),
      );
      return changed ?? cursor;
    } catch (error) {
      // Deletions are no longer kept for so long, or commits were lost that the copy has.
      if (!hasErrcode(error, '-26', '-38')) throw error;
    }
  }
  await store.clear();
  return put({ updatedSince: '1970-01-01T00:00:00Z' });
}

async function* batchesOf<T>(objects: AsyncIterable<T>): AsyncGenerator<T[], void, undefined> {
  let batch: T[] = [];
  for await (const object of objects) {
    batch.push(object);
    if (batch.length === BATCH_SIZE) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
