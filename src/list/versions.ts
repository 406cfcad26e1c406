import type { DataSource } from 'typeorm';
import type { State } from './serving/listing.js';
import { run, type Statement, statement } from '../database/statement.js';

/**
 * The SQL expressions of a resource's state, as columns: its version as text, which changes with
 * every commit that writes, and until when no change to it is missing (null as long as that is not
 * known).
 */
export function stateOf(resource: string): string {
  return `(SELECT sum(stamp)::text FROM resource_versions WHERE resource = '${resource}') AS version,
    (SELECT to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') FROM watermark) AS until`;
}

/** Without a tally nothing tells when a resource changes, and what is kept of it would be for ever. */
export function known(version: string | null | undefined, resource: string): string {
  if (version) return version;
  throw new TypeError(`${resource} has no tally: its migration lacks install_tally`);
}

interface Lookup {
  readonly resource: string;
  readonly statement: Statement;
  /** The one under way. */
  current?: Promise<State>;
  /** The one that all who come meanwhile wait for. */
  next?: Promise<State>;
}

const lookups = new WeakMap<DataSource, Map<string, Lookup>>();

/**
 * A resource's state at some moment after the call. Those who ask at the same time share a
 * lookup, but never one that began before they asked.
 */
export function currentState(dataSource: DataSource, resource: string): Promise<State> {
  const lookup = lookupOf(dataSource, resource);
  if (!lookup.current) return start(dataSource, lookup);
  lookup.next ??= lookup.current
    .catch(() => undefined)
    .then(() => {
      lookup.next = undefined;
      return start(dataSource, lookup);
    });
  return lookup.next;
}

function start(dataSource: DataSource, lookup: Lookup): Promise<State> {
  const current = run<State>(dataSource, lookup.statement, [])
    .then(([row]) => ({
      version: known(row?.version, lookup.resource),
      until: row?.until ?? null,
    }))
    .finally(() => {
      lookup.current = undefined;
    });
  lookup.current = current;
  return current;
}

function lookupOf(dataSource: DataSource, resource: string): Lookup {
  let resources = lookups.get(dataSource);
  if (!resources) lookups.set(dataSource, (resources = new Map<string, Lookup>()));
  let lookup = resources.get(resource);
  if (!lookup) {
    lookup = {
      resource,
      statement: statement(`SELECT ${stateOf(resource)}`, { prepared: true }),
    };
    resources.set(resource, lookup);
  }
  return lookup;
}
