import { hasErrcode } from './envelope.js';
import type { OwnField, ResourceTypes, Selected } from './resource.js';
import { valuesOf } from './stream.js';
import { type CallOptions, totalOf, type Transport, updatedUntil } from './transport.js';

/** Where the copy of a resource is kept. Each method may return a promise, which is waited for. */
export interface MirrorStore<T> {
  /** Deletes all objects: a new copy begins. */
  readonly clear: () => unknown;
  /** Inserts objects, or replaces those with the same identifiers. */
  readonly put: (objects: readonly T[]) => unknown;
  /** Deletes the objects with these identifiers, if they are there. */
  readonly delete: (identifiers: readonly string[]) => unknown;
}

/** How the copies of some resources are kept together. Each method may return a promise, which is waited for. */
export interface MirrorOptions<Fields = Readonly<Record<string, readonly string[] | undefined>>> {
  /** What was saved last. Without it, a new copy begins. */
  readonly cursor?: string | undefined;
  /** Keeps the cursor in place of the one before; `undefined`: that begins a new copy. */
  readonly save: (cursor: string | undefined) => unknown;
  /** Begins a transaction, in which all of a round is written. Default: see `Mirror`. */
  readonly begin?: () => unknown;
  readonly commit?: () => unknown;
  readonly rollback?: () => unknown;
  /** The fields of each resource; its objects have the identifier in any case. Default: all. */
  readonly fields?: Fields | undefined;
}

/** What is known of a copy. */
export interface MirrorStatus {
  /** Whether a round of this `Mirror` was complete, and it does not begin again. */
  readonly isComplete: boolean;
  /** Every change before this time is in it, by the clock of the database. */
  readonly updatedUntil: string | undefined;
  /** Milliseconds since the service answered what it has; `Infinity` before the first round is complete. */
  readonly age: number;
  /** How many rounds brought something. */
  readonly rounds: number;
  /** How often a new copy began. */
  readonly begun: number;
}

/** The fields of the copies of some resources. */
export type MirrorFields<R extends Readonly<Record<keyof R, ResourceTypes>>> = {
  readonly [Name in keyof R]?: readonly OwnField<R[Name]>[];
};

/** A store for each resource that is copied: of those whose changes are known. */
export type MirrorStores<R extends Readonly<Record<keyof R, ResourceTypes>>, Fields> = {
  readonly [
    Name in keyof R as 'updatedSince' extends keyof R[Name]['query'] ? Name : never
  ]?: MirrorStore<Copied<R[Name], Name extends keyof Fields ? Fields[Name] : undefined>>;
};

type Copied<R extends ResourceTypes, Fields> = Fields extends readonly string[]
  ? Selected<R['object'], Fields, []> & Pick<R['object'], R['identifier'] & keyof R['object']>
  : R['object'];

/** A line of `/changes`. */
type Change =
  | { readonly resource: string; readonly object: object }
  | { readonly resource: string; readonly deleted: string };

/** Most objects that a store gets at a time. */
const BATCH_SIZE = 1000;

/** Milliseconds from one round that waits to the next, as there may be changes all the time; if it could not wait. */
const [PAUSE, LONG_PAUSE] = [300, 1000];

/**
 * Copies of some resources, all of one moment. With `begin`, a round is written while it is read, in the transaction that
 * begins there. Without, it is kept in memory until it is read, and then written at once: if no method returns a promise,
 * nobody sees a part of it.
 */
export class Mirror {
  /** Of the answer that the copies are equal to; absent: another one may have been written in part. */
  private tag: string | undefined;
  private cursor: string | undefined;
  private roundStart = -Infinity;
  private confirmed = -Infinity;
  private rounds = 0;
  private begun = 0;
  private readonly stores = new Map<string, MirrorStore<never>>();
  private readonly query: object;
  /** What the cursor is of, in its text: another set of resources or fields begins a new copy. */
  private readonly subject: string;

  constructor(
    private readonly transport: Transport,
    stores: Readonly<Record<string, MirrorStore<never> | undefined>>,
    private readonly options: MirrorOptions,
    /** The names of resources that have other ones in `stores` and `fields`. */
    names: Readonly<Record<string, string>> = {},
  ) {
    for (const [name, store] of Object.entries(stores))
      if (store) this.stores.set(names[name] ?? name, store);
    const resources = [...this.stores.keys()];
    const fields = Object.entries(options.fields ?? {}).flatMap(([name, ofOne = []]) =>
      ofOne.map((field) => `${names[name] ?? name}.${field}`),
    );
    this.query = { resources, fields };
    this.subject = [...resources, ...fields].join();
    const [cursor, subject] = options.cursor?.split(' ') ?? [];
    if (subject === this.subject) this.cursor = cursor;
  }

  /**
   * Brings the copies up to date. If it fails, it can be called again.
   *
   * @param wait seconds, up to 60, to wait for a change first, unless the round before failed. Then rounds need no pause
   * between them. Default: none
   * @returns whether there was anything new
   */
  async round({ wait, ...call }: CallOptions & { readonly wait?: number } = {}): Promise<boolean> {
    const { tag } = this;
    const pause = tag === undefined ? LONG_PAUSE : PAUSE;
    if (wait) await this.transport.pause(this.roundStart + pause - performance.now(), call);
    this.roundStart = performance.now();
    this.tag = undefined;
    const headers: Record<string, string> = {};
    if (wait) headers.Prefer = `wait=${wait}`;
    if (tag !== undefined) headers['If-None-Match'] = tag;
    try {
      if (this.cursor !== undefined) return await this.apply(this.cursor, headers, call);
    } catch (error) {
      // Deletions are no longer kept for so long, or commits were lost that the copy has.
      if (!hasErrcode(error, '-26', '-38')) throw error;
    }
    return this.apply(undefined, {}, call);
  }

  status(): MirrorStatus {
    const { cursor, rounds, begun } = this;
    const updatedUntil = cursor && `${cursor.slice(0, 23)}Z`;
    const age = performance.now() - this.confirmed;
    return { isComplete: age < Infinity, updatedUntil, age, rounds, begun };
  }

  private async apply(
    since: string | undefined,
    headers: Readonly<Record<string, string>>,
    call: CallOptions,
  ): Promise<boolean> {
    const { stores, options, transport } = this;
    const query = { ...this.query, since };
    const opened = await transport.stream('/changes', query, call, headers);
    const { exchange, response } = opened;
    const answered = performance.now();
    const until = updatedUntil(response);
    const tag = response.headers.get('ETag') ?? undefined;
    const isRead = response.status !== 304;
    const isNew = isRead && totalOf(response) > 0;
    const writes: Write[] = [];
    if (since === undefined) {
      this.begun += 1;
      this.confirmed = -Infinity;
      writes.push(this.saving(undefined));
      for (const store of stores.values()) writes.push(() => store.clear());
    } else if (isRead) {
      // Before anything of it is in the copy: if it is lost, the service must notice.
      writes.push(this.saving(withMark(since, until)));
    }
    let hasBegun = false;
    try {
      await options.begin?.();
      hasBegun = true;
      if (!isRead) await exchange.text(response);
      else {
        for await (const each of this.writesOf(
          valuesOf(opened, transport, call, totalOf(response)),
        )) {
          writes.push(each);
          if (options.begin) await run(writes.splice(0));
        }
      }
      writes.push(this.saving(until ?? since));
      await run(writes);
      await options.commit?.();
    } catch (error) {
      exchange.end();
      if (options.rollback) {
        this.cursor = since;
        // The first error says more than that of a transaction which has ended by itself.
        if (hasBegun)
          await Promise.resolve()
            .then(options.rollback)
            .catch(() => undefined);
      }
      throw error;
    }
    this.tag = tag;
    this.confirmed = answered;
    this.rounds += isNew ? 1 : 0;
    return isNew;
  }

  private saving(cursor: string | undefined): Write {
    return () => {
      this.cursor = cursor;
      return this.options.save(cursor && `${cursor} ${this.subject}`);
    };
  }

  /** What writes changes in their order: of one resource, and either objects or deletions at a time. */
  private async *writesOf(changes: AsyncIterable<Change>): AsyncGenerator<Write, void, undefined> {
    let batch: Change[] = [];
    const writeOf = (changed: Change[]): Write => {
      const store = this.stores.get(changed[0]?.resource ?? '');
      const objects = changed.flatMap((each) => ('object' in each ? [each.object] : []));
      const deleted = changed.flatMap((each) => ('deleted' in each ? [each.deleted] : []));
      return () => (objects.length > 0 ? store?.put(objects as never[]) : store?.delete(deleted));
    };
    for await (const each of changes) {
      const [first = each] = batch;
      const isLike = first.resource === each.resource && 'object' in first === 'object' in each;
      if (!isLike || batch.length === BATCH_SIZE) {
        yield writeOf(batch);
        batch = [];
      }
      batch.push(each);
    }
    if (batch.length > 0) yield writeOf(batch);
  }
}

/** Calls a method of a store, or of the options. */
type Write = () => unknown;

/** Nothing else runs between two writes that return no promise: not even what waits for a promise. */
async function run(writes: readonly Write[]): Promise<void> {
  for (const write of writes) {
    const result = write();
    if (typeof result === 'object' && result !== null && 'then' in result)
      await (result as Promise<unknown>);
  }
}

/** A time with the mark of another one, which is what follows the milliseconds. */
function withMark(time: string, marked = time): string {
  return time.slice(0, 23) + marked.slice(23);
}
