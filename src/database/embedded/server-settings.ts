import { totalmem } from 'node:os';

const MEGABYTE = 2 ** 20;

/** Settings of every server. The port and the settings of the caller are added. */
export function serverSettings(): Record<string, string> {
  return { ...SETTINGS, ...memorySettings(availableMemory()) };
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // The same as in PostgreSQL's container image, so that both format times alike.
  timezone: 'UTC',
  // One file per weekday, truncated a week later: this bounds the size of the log.
  logging_collector: 'on',
  log_directory: 'log',
  log_filename: 'postgresql-%a.log',
  log_rotation_age: '1d',
  log_rotation_size: '0',
  log_truncate_on_rotation: 'on',
  log_checkpoints: 'off',
  // An import of a million rows writes several times the default of 1 GB, with a checkpoint every few seconds.
  max_wal_size: '4GB',
};

/** A small part of the memory: the server runs beside an editor and a browser. */
function memorySettings(memory: number): Record<string, string> {
  const part = (divisor: number, minimum: number, maximum: number): string => {
    const megabytes = Math.floor(memory / divisor / MEGABYTE);
    return `${Math.min(Math.max(megabytes, minimum), maximum)}MB`;
  };
  return {
    // Holds the indexes that lists of a large resource read.
    shared_buffers: part(16, 128, 1024),
    // The planner's estimate of what shared buffers and the operating system keep in memory.
    effective_cache_size: part(2, 256, Infinity),
    // Sorts the entries of an index that is built, and collects the row versions that vacuum removes.
    maintenance_work_mem: part(64, 64, 256),
  };
}

/** Bytes of memory of the container, else of the machine. */
function availableMemory(): number {
  // 0 if there is no limit, or a number beyond any memory.
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
