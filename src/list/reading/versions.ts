import { Injectable } from '@nestjs/common';
import { Coalesced } from '../../database/coalesced.js';
import { IncompleteSchemaError } from '../../database/database-failure.js';
import type { ReadPool } from '../../database/read-pool.js';
import { statement } from '../../database/statement.js';
import type { State, VersionedPage } from './prepared-list.js';
import { stateOf } from '../statement/state.js';

/**
 * Returns the version that a statement found.
 *
 * @throws IncompleteSchemaError if there is no version, because the resource has no tally as its entity declares: counts
 * would be wrong. Without a version, a cached page would never become outdated.
 */
export function requireVersion(
  version: string | null | undefined,
  resources: readonly string[],
): string {
  if (version) return version;
  throw new IncompleteSchemaError(
    `${resources.join(', ')} has no tally as declared: its migration lacks install_tally`,
  );
}

/**
 * The only row of a statement for a page.
 *
 * @throws TypeError if there is none; IncompleteSchemaError if it has no version: see `requireVersion`
 */
export function onlyPage<Page extends VersionedPage>(
  [page]: readonly Page[],
  resources: readonly string[],
): Page {
  if (!page) throw new TypeError('A page is one row');
  requireVersion(page.version, resources);
  return page;
}

/** Looks up the current state of resources. Concurrent callers share queries. */
@Injectable()
export class Versions {
  private readonly queries = new Map<string, Coalesced<State>>();

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
      return { version: requireVersion(row?.version, resources), until: row?.until ?? null };
    });
  }
}
