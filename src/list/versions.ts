import { Injectable } from '@nestjs/common';
import { ReadPool } from '../database/read-pool.js';
import { type Statement, statement } from '../database/statement.js';
import type { State } from './prepared-list.js';

/**
 * The SQL expressions of a resource's state, as columns: `version` changes with every commit that
 * writes to the resource; `until` is the time before which no change is missing, null as long as that
 * is not known.
 */
export function stateOf(resource: string): string {
  return `(SELECT sum(stamp)::text FROM resource_versions WHERE resource = '${resource}') AS version,
    (SELECT to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') FROM watermark) AS until`;
}

/**
 * The version that a statement found. A resource without a tally has none, and a page of it could
 * never be known to be outdated.
 *
 * @throws TypeError where there is none
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
  /** The query after that one, which all later callers share. */
  next?: Promise<State>;
}

/** Looks up the current state of resources. Concurrent callers share a query. */
@Injectable()
export class Versions {
  private readonly lookups = new Map<string, Lookup>();

  constructor(private readonly reads: ReadPool) {}

  /** A resource's state at some time after the call, never from a query that began before it. */
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
