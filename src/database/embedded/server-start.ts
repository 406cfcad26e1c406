import { spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { CommandError } from '../../command-error.js';
import { type Cluster, oneLine, serverEnvironment } from './cluster.js';

/** What the server is always started with; the port, and a test's own settings, come on top. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // As in PostgreSQL's container image, so that both write a time alike.
  timezone: 'UTC',
  // A file for each day of the week, begun anew a week later: the log is bounded.
  logging_collector: 'on',
  log_directory: 'log',
  log_filename: 'postgresql-%a.log',
  log_rotation_age: '1d',
  log_rotation_size: '0',
  log_truncate_on_rotation: 'on',
  log_checkpoints: 'off',
};

/**
 * Failures that pass: the server of another process was quicker, one that was killed has not quite
 * gone, or the port was taken since it was found free.
 */
const PASSING = /lock file|still in use|could not create any TCP\/IP sockets/;

/** One attempt at starting a server. */
export interface ServerStart {
  /** Whether the process is still there, as far as we have heard. */
  readonly pending: boolean;
  /** @throws CommandError if the server could not start for a reason that will not pass by itself */
  refuseIfHopeless(): Promise<void>;
}

/** Starts a server on a cluster, outside our process group: Ctrl-C is for us alone. */
export async function startServer(
  { directory, account, binaries }: Cluster,
  settings: Record<string, string>,
): Promise<ServerStart> {
  const all = { ...SETTINGS, port: String(await freePort(directory)), ...settings };
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(binaries.postgres, ['-D', directory, ...options], {
    ...account,
    detached: true,
    // One that the server's user can be in.
    cwd: '/',
    env: serverEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  let pending = true;
  server.on('error', (error) => {
    said += error.message;
    pending = false;
  });
  // Not at its exit: what it said last may still be on its way.
  server.on('close', () => {
    pending = false;
  });
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4_000);
  });
  // The server stays when we go.
  server.unref();
  if ('unref' in server.stderr) (server.stderr as unknown as { unref(): void }).unref();
  return {
    get pending() {
      return pending;
    },
    async refuseIfHopeless() {
      // One that was stopped or killed is simply started again.
      if (server.pid !== undefined && (server.exitCode ?? 0) === 0) return;
      const reason = lastFailure(said) ?? lastFailure(await logTail(directory)) ?? oneLine(said);
      if (PASSING.test(reason)) return;
      throw new CommandError(
        `PostgreSQL does not start on ${directory}: ${reason} (see ${join(directory, 'log')})`,
      );
    },
  };
}

/** The port of the last time if it is free, so that those who know the server's URL find it again. */
async function freePort(directory: string): Promise<number> {
  const options = await readFile(join(directory, 'postmaster.opts'), 'utf8').catch(() => '');
  const last = Number(/"port=(\d+)"/.exec(options)?.[1] ?? 0);
  return (await listenOn(last).catch(() => undefined)) ?? (await listenOn(0));
}

async function listenOn(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(port, '127.0.0.1', () => {
      const address = probe.address();
      const found = typeof address === 'object' && address ? address.port : port;
      probe.close(() => {
        resolve(found);
      });
    });
  });
}

function lastFailure(log: string): string | undefined {
  const lines = log.split('\n').filter((line) => /(FATAL|PANIC): {2}/.test(line));
  return lines.at(-1)?.replace(/^.*?(FATAL|PANIC): {2}/, '');
}

/** The end of the file that the log collector is writing, or wrote last. */
async function logTail(directory: string): Promise<string> {
  try {
    const names = await readFile(join(directory, 'current_logfiles'), 'utf8');
    const file = await open(join(directory, names.trim().replace(/^stderr /, '')));
    try {
      const { size } = await file.stat();
      const { buffer, bytesRead } = await file.read({ position: Math.max(0, size - 4_000) });
      return buffer.toString('utf8', 0, Math.min(bytesRead, 4_000));
    } finally {
      await file.close();
    }
  } catch {
    return '';
  }
}
