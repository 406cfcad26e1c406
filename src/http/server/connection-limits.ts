import { readFileSync } from 'node:fs';

/** The connections that each port of the process may have open. */
export interface ConnectionLimits {
  readonly service: number;
  readonly admin: number;
}

/** Limits however many files may be open: each connection takes some memory. */
const MAXIMUM: ConnectionLimits = { service: 10_000, admin: 1000 };
/** Open files that are left for everything but connections. */
const RESERVED = 100;
/** The share of the service in what is left. */
const SERVICE_SHARE = 0.8;

/**
 * Limits under which the process never runs out of file descriptors. With none left it could neither
 * answer a health check nor open a connection to its database.
 *
 * @param needed descriptors for connections to databases
 */
export function connectionLimits(needed: number): ConnectionLimits {
  const left = Math.max(20, openFilesLimit() - RESERVED - needed);
  return {
    service: Math.min(MAXIMUM.service, Math.floor(left * SERVICE_SHARE)),
    admin: Math.min(MAXIMUM.admin, Math.floor(left * (1 - SERVICE_SHARE))),
  };
}

/**
 * The most files that the process may have open, as Linux tells it; infinite where nothing does.
 * Node raises the soft limit to the hard one when it starts.
 */
function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const [, soft] = /^Max open files +(\d+)/m.exec(limits) ?? [];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}
