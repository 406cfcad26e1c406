import { execFile } from 'node:child_process';
import { link, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode } from './error-code.js';

/** The main process of a running server. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  /** Whether it takes connections: false while it is starting or stopping. */
  readonly ready: boolean;
}

/** How long a postmaster.pid may be without content: a server writes it just after creating it. */
const EMPTY_AT_MOST_MS = 5_000;

/**
 * The server that runs on a cluster, going by its `postmaster.pid`; it may still be starting, or
 * be stopping already. The file of one that is dead does not count, whoever has its number now.
 */
export async function runningPostmaster(directory: string): Promise<Postmaster | undefined> {
  const content = await lockFile(directory);
  return content === undefined ? undefined : livePostmaster(content);
}

/**
 * Removes a `postmaster.pid` that would keep PostgreSQL from starting though its server is dead:
 * one whose number belongs to another process or to a corpse that nobody reaps. PostgreSQL itself
 * only looks whether the number is taken.
 */
export async function removeStaleLockFile(directory: string): Promise<void> {
  const content = await lockFile(directory);
  if (content === undefined || (await livePostmaster(content))) return;
  const path = join(directory, 'postmaster.pid');
  const aside = `${path}.stale-${process.pid}`;
  try {
    if (content === '' && Date.now() - (await stat(path)).mtimeMs < EMPTY_AT_MOST_MS) return;
    await rename(path, aside);
    // A server that started since we looked gets its file back.
    if ((await readFile(aside, 'utf8')) !== content) await link(aside, path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'EEXIST') throw error;
  }
  await rm(aside, { force: true });
}

async function lockFile(directory: string): Promise<string | undefined> {
  try {
    return await readFile(join(directory, 'postmaster.pid'), 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The lines of the file: process, data directory, start time, port, two of no use here, shared memory, status. */
async function livePostmaster(content: string): Promise<Postmaster | undefined> {
  const [pid = '', directory = '', , port = '', , , , status = ''] = content.split('\n');
  if (!/^[1-9]\d*$/.test(pid) || directory === '') return undefined;
  // Compared with the name the file itself gives, so that a directory mounted twice is one.
  const runs = (await commandLine(pid)).includes(`/postgres -D ${directory}`);
  return runs
    ? { pid: Number(pid), port: Number(port), ready: status.trim() === 'ready' }
    : undefined;
}

/** What a process was started as; empty if there is none, or if it is dead but not reaped yet. */
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
