import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serverEnvironment } from './cluster.js';
import { messageOf, oneLine } from './errors.js';
import { isReady } from './postmaster.js';

/** @import { AddressInfo } from 'node:net' */
/** @import { Cluster } from './cluster.js' */

/** How long a fast shutdown with its checkpoint may take. After that, an immediate shutdown. */
const STOP_TIMEOUT_MS = 60_000;

/**
 * Transient failures: another supervisor started its server first, a killed server has not released
 * its resources yet, or the port was taken in the meantime.
 */
const TRANSIENT = /lock file|still in use|could not create any TCP\/IP sockets/;

/** Settings of every server. Those of the caller come after them. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // Independent of the machine, as the locale of the cluster is.
  timezone: 'UTC',
  // One file per weekday, truncated a week later: this bounds the size of the log.
  logging_collector: 'on',
  log_directory: 'log',
  log_filename: 'postgresql-%a.log',
  log_rotation_age: '1d',
  log_rotation_size: '0',
  log_truncate_on_rotation: 'on',
  log_checkpoints: 'off',
};

/**
 * The loopback address of a server. A machine with IPv6 alone has no other than `::1`.
 *
 * @param {Record<string, string>} settings
 */
export function hostOf({ listen_addresses = '' }) {
  return listen_addresses === '::1' ? '::1' : '127.0.0.1';
}

/** The main process of a server, as a child of this process. */
export class PostgresProcess {
  #directory;
  #child;
  #output = '';
  #hasEnded = false;

  /**
   * @param {Cluster} cluster
   * @param {Record<string, string>} settings
   */
  constructor({ directory, account, binaries }, settings) {
    const all = Object.entries({ ...SETTINGS, ...settings });
    const options = all.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    this.#directory = directory;
    this.#child = spawn(binaries.postgres, ['-D', directory, ...options], {
      ...account,
      // A signal to the process group of this process must not reach it.
      detached: true,
      // A directory that the account can enter.
      cwd: '/',
      env: serverEnvironment(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child.stderr.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
      this.#output = (this.#output + text).slice(-4_000);
    });
    /** Resolves when it has ended. `close`, not `exit`: the last output may arrive after the exit. */
    this.ended = once(this.#child, 'close')
      .catch((/** @type {unknown} */ error) => {
        // It could not be run.
        this.#output += messageOf(error);
      })
      .then(() => {
        this.#hasEnded = true;
      });
  }

  /** Whether it accepts connections; false if it has ended before. */
  async becomesReady() {
    while (!this.#hasEnded) {
      if (await isReady(this.#directory, this.#child.pid)) return true;
      await sleep(10);
    }
    return false;
  }

  /** Why it has ended; undefined if another start may succeed. */
  async failure() {
    // It was stopped or killed.
    if (this.#child.pid !== undefined && !this.#child.exitCode) return undefined;
    const reason =
      lastFailure(this.#output) ??
      lastFailure(await logTail(this.#directory)) ??
      oneLine(this.#output);
    if (TRANSIENT.test(reason)) return undefined;
    const log = join(this.#directory, 'log');
    return `PostgreSQL does not start on ${this.#directory}: ${reason} (see ${log})`;
  }

  /** Resolves when it has stopped. */
  async stop() {
    this.#child.kill('SIGINT');
    const timer = setTimeout(() => this.#child.kill('SIGQUIT'), STOP_TIMEOUT_MS);
    await this.ended;
    clearTimeout(timer);
  }
}

/**
 * The port of the previous start if it is free, so that the URL of the server does not change. Otherwise
 * any other one; undefined if the caller would rather wait for that port.
 *
 * @param {string} directory
 * @param {{ isPatient: boolean; host: string }} options
 */
export async function freePort(directory, { isPatient, host }) {
  const options = await readFile(join(directory, 'postmaster.opts'), 'utf8').catch(() => '');
  const last = Number(/"port=(\d+)"/.exec(options)?.[1] ?? 0);
  return (
    (await listenOn(last, host).catch(() => undefined)) ??
    (isPatient ? undefined : listenOn(0, host))
  );
}

/**
 * @param {number} port
 * @param {string} host
 */
async function listenOn(port, host) {
  // A user may connect again just now: the probe is closed when its connections are.
  const probe = createServer((socket) => socket.destroy()).listen(port, host);
  await once(probe, 'listening');
  const address = /** @type {AddressInfo} */ (probe.address());
  await once(probe.close(), 'close');
  return address.port;
}

/** @param {string} log */
function lastFailure(log) {
  const lines = log.split('\n').filter((line) => /(FATAL|PANIC): {2}/.test(line));
  return lines.at(-1)?.replace(/^.*?(FATAL|PANIC): {2}/, '');
}

/** @param {string} directory */
async function logTail(directory) {
  try {
    const names = await readFile(join(directory, 'current_logfiles'), 'utf8');
    const log = await readFile(join(directory, names.trim().replace(/^stderr /, '')), 'utf8');
    return log.slice(-4_000);
  } catch {
    return '';
  }
}
