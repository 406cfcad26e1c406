import { execFile } from 'node:child_process';
import { link, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode, unlessMissing } from './errors.js';

/** How long a postmaster.pid may be empty: a server writes it just after creating it. */
const MAX_EMPTY_MS = 5_000;

/**
 * Whether a server accepts connections.
 *
 * @param {string} directory
 * @param {number | undefined} pid
 */
export async function isReady(directory, pid) {
  const file = parse((await lockFile(directory)) ?? '');
  return file.pid === String(pid) && file.status === 'ready';
}

/**
 * The server that runs on a cluster according to `postmaster.pid`. It may still be starting, or be
 * stopping. Undefined if the process of the file is dead, even if its pid was reused.
 *
 * @param {string} directory
 */
export async function runningPostmaster(directory) {
  const { pid, status, ...file } = parse((await lockFile(directory)) ?? '');
  const server = await processOf(pid);
  // Compared with the path in the file, which is right also for a directory that is mounted twice.
  if (!server?.command.includes(`/postgres -D ${file.directory}`)) return undefined;
  const parent = await processOf(server.parent);
  return {
    pid: Number(pid),
    isReady: status === 'ready',
    isSupervised: parent?.command.includes(`/supervisor.js ${file.directory}`) ?? false,
  };
}

/**
 * Removes a `postmaster.pid` that prevents PostgreSQL from starting although its server is dead: its
 * pid was reused, or belongs to a zombie process. PostgreSQL only checks whether the pid exists.
 *
 * @param {string} directory where `runningPostmaster` finds none
 */
export async function removeStaleLockFile(directory) {
  const content = await lockFile(directory);
  if (content === undefined || (await runningPostmaster(directory))) return;
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

/** @param {string} directory */
function lockFile(directory) {
  return unlessMissing(readFile(join(directory, 'postmaster.pid'), 'utf8'));
}

/**
 * The lines of the file: pid, data directory, start time, port, socket directory, listen address,
 * shared memory key, status.
 *
 * @param {string} content
 * @see https://www.postgresql.org/docs/current/storage-file-layout.html
 */
function parse(content) {
  const [pid = '', directory = '', , , , , , status = ''] = content.split('\n');
  return { pid, directory, status: status.trim() };
}

/** The parent and the command line of a process; undefined if there is none. @param {string} pid */
async function processOf(pid) {
  if (!/^[1-9]\d*$/.test(pid)) return undefined;
  try {
    if (process.platform === 'linux') {
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      // Empty for a zombie process.
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
      const [, parent = ''] = /^PPid:\s*(\d+)$/m.exec(status) ?? [];
      return { parent, command: command.replaceAll('\0', ' ') };
    }
    const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'ppid=,command=', '-p', pid]);
    const [, parent = '', command = ''] = /^\s*(\d+)\s+(.*)/.exec(stdout) ?? [];
    return { parent, command };
  } catch {
    return undefined;
  }
}
