import { readFileSync } from 'node:fs';

/** Upper bounds whatever the file limit is, because each connection takes memory. */
const MAXIMUM = { service: 20_000, admin: 1000 };
/** File descriptors reserved for everything except connections. */
const RESERVED = 100;
/** The share of the remaining descriptors that the service port gets. */
const SERVICE_SHARE = 0.8;

/**
 * The maximum number of open connections for each port of the process. They keep the process from running out
 * of file descriptors. Without a free descriptor it can neither answer a health check nor open a connection to
 * its database.
 *
 * @param databaseConnections the number of descriptors for connections to databases
 */
export function connectionLimits(databaseConnections: number): typeof MAXIMUM {
  const available = Math.max(20, openFilesLimit() - RESERVED - databaseConnections);
  return {
    service: Math.min(MAXIMUM.service, Math.floor(available * SERVICE_SHARE)),
    admin: Math.min(MAXIMUM.admin, Math.floor(available * (1 - SERVICE_SHARE))),
  };
}

/** The soft limit of open files, which Node has raised to the hard one; infinite where `/proc` does not tell it. */
function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const [, soft] = /^Max open files +(\d+)/m.exec(limits) ?? [];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}
