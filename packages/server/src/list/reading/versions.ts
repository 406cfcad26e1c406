import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { EntityMetadata } from 'typeorm';
import { Coalesced } from '../../database/coalesced.js';
import { IncompleteSchemaError } from '../../database/database-failure.js';
import type { ReadPool } from '../../database/read-pool.js';
import { statement } from '../../database/statement.js';
import { hasOwnTable } from '../../resource/resource.js';
import { isInstalled } from '../../tally/described-tally.js';
import { stateOf } from '../statement/page-statement.js';
import type { State, VersionedPage } from './prepared-list.js';

/**
 * Returns the version that a statement found.
 *
 * @param counted as `stateOf` takes it
 * @throws IncompleteSchemaError if there is no version, so that a cached page would never become outdated, or no tally as its
 * entity declares it, so that counts would be wrong
 */
export function requireVersion(
  state: { readonly version?: string | null; readonly tally?: string | null } | undefined,
  resources: readonly string[],
  counted?: EntityMetadata,
): string {
  const { version, tally } = state ?? {};
  const isCounted = !counted || !hasOwnTable(counted) || isInstalled(counted, tally);
  if (version && isCounted) return version;
  throw new IncompleteSchemaError(
    `${resources.join(', ')} has no tally as declared: run catalogue migrate`,
  );
}

/**
 * The only row of a statement for a page.
 *
 * @throws TypeError if there is none; IncompleteSchemaError: see `requireVersion`
 */
export function onlyPage<Page extends VersionedPage>(
  [page]: readonly Page[],
  resources: readonly string[],
  counted: EntityMetadata,
): Page {
  if (!page) throw new TypeError('A page is one row');
  requireVersion(page, resources, counted);
  return page;
}

/** Sets of resources whose queries are kept: a client can name any of them. */
const MAX_QUERIES = 500;

/** Milliseconds between two looks at the versions that are waited for. */
const PERIOD = 100;

interface Waiter {
  /** The version that it has seen. */
  readonly version: string;
  /** The `performance.now()` value at which the time is over. */
  readonly deadline: number;
  readonly end: () => void;
}

/**
 * Looks up the current state of resources. Concurrent callers share queries. Looks ten times a second whether versions have
 * changed, for all who wait for that.
 */
@Injectable()
export class Versions implements OnModuleDestroy {
  private readonly queries = new LRUCache<string, Coalesced<State>>({ max: MAX_QUERIES });
  private readonly waiting = new Map<Coalesced<State>, Set<Waiter>>();
  /** The queries that run: a database that does not respond gets one of each. */
  private readonly looking = new Set<Coalesced<State>>();
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  /** The state of resources, from a query that begins after the call. */
  current(resources: readonly string[], reads: ReadPool): Promise<State> {
    return this.queryFor(resources, reads).result();
  }

  /**
   * Waits until the version of resources is another one or cannot be looked up, or the time is over.
   *
   * @param listener called once, later
   * @returns a function that ends the wait
   */
  wait(
    resources: readonly string[],
    reads: ReadPool,
    version: string,
    seconds: number,
    listener: () => void,
  ): () => void {
    const query = this.queryFor(resources, reads);
    const waiters = this.waiting.get(query) ?? new Set();
    this.waiting.set(query, waiters);
    const end = (): void => {
      if (waiters.delete(waiter)) listener();
    };
    const deadline = performance.now() + seconds * 1000 - PERIOD / 2;
    const waiter: Waiter = { version, deadline, end };
    waiters.add(waiter);
    if (this.isClosed) setImmediate(end);
    this.timer ??= this.lookLater();
    return end;
  }

  /** Ends all waits, and any further one at once: the server closes after their answers. */
  onModuleDestroy(): void {
    this.isClosed = true;
    for (const waiters of this.waiting.values()) for (const { end } of waiters) end();
  }

  private lookLater(): NodeJS.Timeout {
    return setTimeout(() => {
      const now = performance.now();
      for (const [query, waiters] of this.waiting) {
        for (const { deadline, end } of waiters) if (now >= deadline) end();
        if (waiters.size === 0) this.waiting.delete(query);
        else if (!this.looking.has(query)) void this.look([...waiters], query);
      }
      this.timer = this.waiting.size > 0 ? this.lookLater() : undefined;
    }, PERIOD).unref();
  }

  /** @param waiters none who came during the query, and may have seen a later version */
  private async look(waiters: readonly Waiter[], query: Coalesced<State>): Promise<void> {
    this.looking.add(query);
    // Requests that run again get the error.
    const state = await query.result().catch(() => undefined);
    this.looking.delete(query);
    for (const { version, end } of waiters) if (state?.version !== version) end();
  }

  /** The query of the state, one for each set of resources. */
  private queryFor(resources: readonly string[], reads: ReadPool): Coalesced<State> {
    const key = `${reads.source} ${resources.join()}`;
    let query = this.queries.get(key);
    if (!query) {
      const text = statement(`SELECT ${stateOf(resources)}`, { prepared: true });
      query = new Coalesced(async () => {
        const [row] = await reads.rows<State>(text, []);
        return { version: requireVersion(row, resources), until: row?.until ?? null };
      });
      this.queries.set(key, query);
    }
    return query;
  }
}
