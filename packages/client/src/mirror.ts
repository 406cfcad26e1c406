import { hasErrcode } from './errors.js';
import { withIdentifier } from './fields.js';
import { ObjectStream } from './stream.js';
import type { CallOptions, Transport } from './transport.js';

/** Where a copy of a resource is kept. Each method may return a promise, which is waited for. */
export interface MirrorStore<T> {
  /** Keeps the cursor of the next round in place of the one before; `undefined`: that begins a new copy. */
  readonly save: (cursor: string | undefined) => unknown;
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

/** The entity tag of the list before the last round of a store, unless that failed. */
const tags = new WeakMap<object, string>();

/** What is copied, and where to; see `Resource.mirror`. */
interface Copy<T> {
  readonly store: MirrorStore<T>;
  readonly cursor?: string | undefined;
  readonly fields?: readonly string[] | undefined;
  readonly wait?: number | undefined;
}

/**
 * Brings a copy up to date, as "Keeping a copy" in docs/api.md of the service tells a client to. If it fails, it can be
 * called again with the cursor that was saved last.
 */
export async function mirror<T>(
  transport: Transport,
  name: string,
  identifier: string,
  { store, cursor, fields, wait }: Copy<T>,
  options?: CallOptions,
): Promise<void> {
  let since = cursor;
  // Of before the round: what changes during it makes another one.
  const seen = tags.get(store);
  tags.delete(store);
  const tag =
    wait && (await transport.changed(`/${name}`, cursor && (seen ?? '*-'), wait, options));
  const save = (next: string | undefined) => store.save((since = next));
  const end = async (next: string | undefined) => {
    await save(next);
    if (tag) tags.set(store, tag);
  };
  const read = async (path: string, query: object, take: (batch: Identified[]) => unknown) => {
    const stream = await new ObjectStream<Identified>(transport, path, query, options);
    const { updatedUntil } = stream;
    // Before anything of it is in the copy: if it is lost, also after an early end, the service must notice.
    if (since !== undefined) await save(withMark(since, updatedUntil));
    for await (const batch of batchesOf(stream)) await take(batch);
    return updatedUntil;
  };
  const put = (query: object) =>
    read(`/${name}`, { ...query, fields: withIdentifier(fields, identifier) }, (objects) =>
      store.put(objects as T[]),
    );

  if (since !== undefined) {
    // In this order: an object that was deleted and exists again is not listed as deleted.
    try {
      const until = await put({ updatedSince: since });
      await read(`/deletions/${name}`, { deletedSince: since, fields: [identifier] }, (objects) =>
        store.delete(objects.map((object) => object[identifier] ?? '')),
      );
      await end(withMark(until ?? since, since));
      return;
    } catch (error) {
      // Deletions are no longer kept for so long, or commits were lost that the copy has.
      if (!hasErrcode(error, '-26', '-38')) throw error;
    }
  }
  await save(undefined);
  await store.clear();
  await end(await put({ updatedSince: new Date(0) }));
}

/** A time with the mark of another one, which is what follows the milliseconds. */
function withMark(time: string, marked = time): string {
  return time.slice(0, 23) + marked.slice(23);
}

async function* batchesOf<T>(objects: AsyncIterable<T>): AsyncGenerator<T[], void, undefined> {
  let batch: T[] = [];
  for await (const object of objects) {
    if (batch.push(object) === BATCH_SIZE) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
