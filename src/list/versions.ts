import { Injectable } from '@nestjs/common';
import { ReadPool } from '../database/read-pool.js';
import { type Statement, statement } from '../database/statement.js';
import { publicTime } from '../resource/column-values.js';
import type { State } from './prepared-list.js';

/**
 * SQL expressions for a resource's state, as two columns. `version` changes with every commit that
 * writes to the resource. `until` is the watermark: the data include every change before this time.
 * It is null until the first watermark is set.
 */
export function stateOf(resource: string): string {
  return `(SELECT sum(stamp)::text FROM resource_versions WHERE resource = '${resource}') AS version,
    (SELECT ${publicTime('until')} FROM watermark) AS until`;
}

/**
 * Returns the version that a statement found.
 *
 * @throws TypeError if there is no version, because the resource has no tally. Without a version, a
 * cached page would never become outdated.
 */
export function requireVersion(version: string | null | undefined, resource: string): string {
  if (version) return version;
  throw new TypeError(`${resource} has no tally: its migration lacks install_tally`);
}

interface Lookup {
  readonly resource: string;
  readonly statement: Statement;
  /** The query in progress. */
  current?: Promise<State>;
  /** The query after `current`, shared by all callers that arrive meanwhile. */
  next?: Promise<State>;
}

/** Looks up the current state of resources. Concurrent callers share queries. */
@Injectable()
export class Versions {
  private readonly lookups = new Map<string, Lookup>();

  constructor(private readonly reads: ReadPool) {}

  /** The state of a resource, from a query that begins after the call. */
  current(resource: string): Promise<State> {
    const lookup = this.lookupOf(resource);
    if (!lookup.current) return this.start(lookup);
    lookup.next ??= lookup.current
      .catch(() => undefined)
      .then(() => {
        lookup.next = undefined;
        return this.start(lookup);
      });
    return lookup.next;
  }

  private start(lookup: Lookup): Promise<State> {
    const current = this.reads
      .rows<State>(lookup.statement, [])
      .then(([row]) => ({
        version: requireVersion(row?.version, lookup.resource),
        until: row?.until ?? null,
      }))
      .finally(() => {
        lookup.current = undefined;
      });
    lookup.current = current;
    return current;
  }

  private lookupOf(resource: string): Lookup {
    let lookup = this.lookups.get(resource);
    if (!lookup) {
      const text = `SELECT ${stateOf(resource)}`;
      lookup = { resource, statement: statement(text, { prepared: true }) };
      this.lookups.set(resource, lookup);
    }
    return lookup;
  }
}
