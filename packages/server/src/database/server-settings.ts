import { totalmem } from 'node:os';
import { loopback } from '../settings/settings.js';

const MEGABYTE = 2 ** 20;

/**
 * Settings of the embedded server. It gets a small part of the memory, since it runs beside an editor and a browser.
 *
 * @param limit of the memory of the container in bytes: 0, or a number beyond any memory, if there is none
 */
export function serverSettings(
  limit = process.constrainedMemory(),
  machine = totalmem(),
): Record<string, string> {
  const memory = limit > 0 ? Math.min(limit, machine) : machine;
  const part = (divisor: number, minimum: number, maximum: number): string => {
    const megabytes = Math.floor(memory / divisor / MEGABYTE);
    return `${Math.min(Math.max(megabytes, minimum), maximum)}MB`;
  };
  return {
    listen_addresses: loopback(),
    // An import of a million rows writes several times the default of 1 GB, with a checkpoint every few seconds.
    max_wal_size: '4GB',
    // Holds the indexes that lists of a large resource read.
    shared_buffers: part(16, 128, 1024),
    // The planner's estimate of what shared buffers and the operating system keep in memory.
    effective_cache_size: part(2, 256, Infinity),
    // Sorts the entries of an index that is built, and collects the row versions that vacuum removes.
    maintenance_work_mem: part(64, 64, 256),
  };
}
