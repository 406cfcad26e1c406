import type { DataSource } from 'typeorm';
import { run, type Statement, statement } from '../database/statement.js';

/** The SQL expression of a resource's version as text: it changes with every commit that writes. */
export function versionOf(resource: string): string {
  return `(SELECT sum(stamp)::text FROM resource_versions WHERE resource = '${resource}')`;
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
  current?: Promise<string>;
  /** The one that all who come meanwhile wait for. */
  next?: Promise<string>;
}

const lookups = new WeakMap<DataSource, Map<string, Lookup>>();

/**
 * A resource's version at some moment after the call. Those who ask at the same time share a
 * lookup, but never one that began before they asked.
 */
export function currentVersion(dataSource: DataSource, resource: string): Promise<string> {
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

function start(dataSource: DataSource, lookup: Lookup): Promise<string> {
  const current = run<{ version: string }>(dataSource, lookup.statement, [])
    .then(([row]) => known(row?.version, lookup.resource))
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
      statement: statement(`SELECT ${versionOf(resource)} AS version`, { prepared: true }),
    };
    resources.set(resource, lookup);
  }
  return lookup;
}
