import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { EntityMetadata } from 'typeorm';
import { Coalesced } from '../../database/coalesced.js';
import { IncompleteSchemaError } from '../../database/database-failure.js';
import type { ReadPool } from '../../database/read-pool.js';
import { statement } from '../../database/statement.js';
import { hasOwnTable } from '../../resource/resource.js';
import { isInstalled } from '../../tally/described-tally.js';
import type { CountedState, State } from './prepared-list.js';
import { stateOf } from '../statement/state.js';

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
export function onlyPage<Page extends CountedState>(
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

/** Looks up the current state of resources. Concurrent callers share queries. */
@Injectable()
export class Versions {
  private readonly queries = new LRUCache<string, Coalesced<State>>({ max: MAX_QUERIES });

  /** The state of resources, from a query that begins after the call. */
  current(resources: readonly string[], reads: ReadPool): Promise<State> {
    return this.queryFor(resources, reads).result();
  }

  /** The query of the state, one for each set of resources. */
  queryFor(resources: readonly string[], reads: ReadPool): Coalesced<State> {
    const key = `${reads.source} ${resources.join()}`;
    let query = this.queries.get(key);
    if (!query) {
      query = this.queryOf(resources, reads);
      this.queries.set(key, query);
    }
    return query;
  }

  private queryOf(resources: readonly string[], reads: ReadPool): Coalesced<State> {
    const query = statement(`SELECT ${stateOf(resources)}`, { prepared: true });
    return new Coalesced(async () => {
      const [row] = await reads.rows<State>(query, []);
      return { version: requireVersion(row, resources), until: row?.until ?? null };
    });
  }
}
