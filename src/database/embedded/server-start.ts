import { spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { CommandError } from '../../command-error.js';
import { type Cluster, oneLine, serverEnvironment } from './cluster.js';
import { serverSettings } from './server-settings.js';

/**
 * Transient failures: another process started its server first, a killed server has not released
 * its resources yet, or the port was taken in the meantime.
 */
const TRANSIENT = /lock file|still in use|could not create any TCP\/IP sockets/;

/** One attempt to start a server. */
export interface ServerStart {
  /** Whether the process is still running, as far as is known. */
  readonly pending: boolean;
  /** @throws CommandError if the attempt failed for a reason that is not transient */
  throwIfPermanent(): Promise<void>;
}

/** Starts a server on a cluster, in a process group of its own: Ctrl-C must not reach it. */
export async function startServer(
  { directory, account, binaries }: Cluster,
  settings: Record<string, string>,
): Promise<ServerStart> {
  const all = { ...serverSettings(), port: String(await freePort(directory)), ...settings };
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(binaries.postgres, ['-D', directory, ...options], {
    ...account,
    detached: true,
    // A directory that the server's account can enter.
    cwd: '/',
    env: serverEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  let pending = true;
  server.on('error', (error) => {
    output += error.message;
    pending = false;
  });
  // `close`, not `exit`: the last output may still arrive after the exit.
  server.on('close', () => {
    pending = false;
  });
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-4_000);
  });
  // The server outlives this process.
  server.unref();
  if ('unref' in server.stderr) (server.stderr as unknown as { unref(): void }).unref();
  return {
    get pending() {
      return pending;
    },
    async throwIfPermanent() {
      // A server that was stopped or killed is started again.
      if (server.pid !== undefined && (server.exitCode ?? 0) === 0) return;
      const reason =
        lastFailure(output) ?? lastFailure(await logTail(directory)) ?? oneLine(output);
      if (TRANSIENT.test(reason)) return;
      throw new CommandError(
        `PostgreSQL does not start on ${directory}: ${reason} (see ${join(directory, 'log')})`,
      );
    },
  };
}

/** The port of the previous start if it is free, so that the URL of the server does not change. */
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

/** The last 4,000 bytes of the current log file; empty if there is none. */
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
