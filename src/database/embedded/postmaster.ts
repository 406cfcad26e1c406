import { execFile } from 'node:child_process';
import { link, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode } from './error-code.js';

/** The main process of a running server. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  /** Whether it accepts connections: false while it starts or stops. */
  readonly ready: boolean;
}

/** How long a postmaster.pid may be empty: a server writes it just after creating it. */
const MAX_EMPTY_MS = 5_000;

/**
 * The server that runs on a cluster according to `postmaster.pid`. It may still be starting, or be
 * stopping. Undefined if the process of the file is dead, even if its pid was reused.
 */
export async function runningPostmaster(directory: string): Promise<Postmaster | undefined> {
  const content = await lockFile(directory);
  return content === undefined ? undefined : livePostmaster(content);
}

/**
 * Removes a `postmaster.pid` that prevents PostgreSQL from starting although its server is dead: its
 * pid was reused, or belongs to a zombie process. PostgreSQL only checks whether the pid exists.
 */
export async function removeStaleLockFile(directory: string): Promise<void> {
  const content = await lockFile(directory);
  if (content === undefined || (await livePostmaster(content))) return;
  const path = join(directory, 'postmaster.pid');
  const renamed = `${path}.stale-${process.pid}`;
  try {
    if (content === '' && Date.now() - (await stat(path)).mtimeMs < MAX_EMPTY_MS) return;
    await rename(path, renamed);
    // A server that has started since the check gets its file back.
    if ((await readFile(renamed, 'utf8')) !== content) await link(renamed, path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'EEXIST') throw error;
  }
  await rm(renamed, { force: true });
}

async function lockFile(directory: string): Promise<string | undefined> {
  try {
    return await readFile(join(directory, 'postmaster.pid'), 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Parses the lines of the file: pid, data directory, start time, port, socket directory, listen
 * address, shared memory key, status.
 *
 * @see https://www.postgresql.org/docs/current/storage-file-layout.html
 */
async function livePostmaster(content: string): Promise<Postmaster | undefined> {
  const [pid = '', directory = '', , port = '', , , , status = ''] = content.split('\n');
  if (!/^[1-9]\d*$/.test(pid) || directory === '') return undefined;
  // Compared with the path in the file, which is right also for a directory that is mounted twice.
  const runs = (await commandLine(pid)).includes(`/postgres -D ${directory}`);
  return runs
    ? { pid: Number(pid), port: Number(port), ready: status.trim() === 'ready' }
    : undefined;
}

/** The command line of a process; empty if there is none, or if it is a zombie. */
async function commandLine(pid: string): Promise<string> {
  try {
    if (process.platform === 'linux') {
      return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
    }
    return (await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', pid])).stdout;
  } catch {
    return '';
  }
}
