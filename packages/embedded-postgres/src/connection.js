import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readlink } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { serverEnvironment } from './cluster.js';
import { EmbeddedPostgresError, errorCode } from './errors.js';

/** @import { Socket } from 'node:net' */
/** @import { Cluster } from './cluster.js' */

/**
 * The link to the supervisor's socket in the directory of a cluster. The socket itself is elsewhere: its path may have
 * about 100 bytes, and not every file system that is mounted has sockets.
 */
export const SOCKET = 'supervisor.socket';

/** How long a server may take to accept connections. After a crash it replays its log first. */
const START_TIMEOUT_MS = 120_000;

/** How long a connection waits for the server to stop. The server stops even after that. */
const END_TIMEOUT_MS = 30_000;

/**
 * What a supervisor writes on a connection, each as a line of JSON: first the port of the server, or
 * why it does not start, and then a reply to each claim, with its holder if that is another process.
 *
 * @typedef {{ port?: number; error?: string; holder?: string }} Message
 */

/** A connection to the supervisor of a server. While it is open, the server runs. */
export class Connection {
  port = 0;
  #socket;
  #lines;

  /** @param {Socket} socket */
  constructor(socket) {
    this.#socket = socket;
    socket.on('error', () => undefined);
    const lines = createInterface({ input: socket });
    /** Resolves when the connection is closed. */
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    void this.closed.then(() => {
      lines.close();
    });
    this.#lines = lines[Symbol.asyncIterator]();
  }

  /**
   * The next message; undefined if the connection is closed. Keeps the process alive.
   *
   * @returns {Promise<Message | undefined>}
   */
  async next() {
    this.#socket.ref();
    const { done, value } = await this.#lines.next();
    this.#socket.unref();
    return done ? undefined : JSON.parse(value);
  }

  /** Claims the data directory. Returns the holder if another process has claimed it. @param {string} holder */
  async claim(holder) {
    this.#socket.write(`${holder}\n`);
    return (await this.next())?.holder;
  }

  /** Resolves when the supervisor has stopped the server or left it to others, or when the time is over. */
  async end() {
    this.#socket.ref();
    this.#socket.end();
    const timer = setTimeout(() => this.#socket.destroy(), END_TIMEOUT_MS);
    await this.closed;
    clearTimeout(timer);
  }
}

/**
 * Connects to the supervisor of a cluster's server. Starts both if there is none. Several processes
 * may do so at once: PostgreSQL lets only one of their servers start, and the others use that one.
 *
 * @param {Cluster} cluster
 * @param {Record<string, string>} settings of PostgreSQL, if it is started
 * @throws EmbeddedPostgresError if the server cannot be started
 */
export async function connect(cluster, settings) {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (let left = START_TIMEOUT_MS; left > 0; left = deadline - performance.now()) {
    const socket = (await supervisorOf(cluster)) ?? startSupervisor(cluster, settings);
    const timer = setTimeout(() => socket.destroy(), left);
    const connection = new Connection(socket);
    const { port, error } = (await connection.next()) ?? {};
    clearTimeout(timer);
    if (error !== undefined) throw new EmbeddedPostgresError(error);
    if (port !== undefined) return Object.assign(connection, { port });
    // The supervisor was stopping, or has left the server to another one.
    await sleep(20);
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL does not start on ${cluster.directory} within ${START_TIMEOUT_MS / 1_000} seconds`,
  );
}

/** A connection to the supervisor that listens; undefined if there is none. @param {Cluster} cluster */
async function supervisorOf({ directory }) {
  try {
    const socket = createConnection(await readlink(join(directory, SOCKET)));
    await once(socket, 'connect');
    return socket;
  } catch (error) {
    // No socket, or that of a supervisor that was killed.
    if (['ENOENT', 'ECONNREFUSED'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}

/**
 * Starts a supervisor with a first connection to it, so that it ends if this process is killed now.
 *
 * @param {Cluster} cluster
 * @param {Record<string, string>} settings
 */
function startSupervisor(cluster, settings) {
  const program = fileURLToPath(new URL('./supervisor.js', import.meta.url));
  const options = JSON.stringify({ ...cluster, settings });
  const supervisor = spawn(process.execPath, [program, cluster.directory, options], {
    // In a process group of its own: Ctrl-C must not reach it, nor the server.
    detached: true,
    cwd: cluster.directory,
    env: serverEnvironment(),
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  supervisor.on('error', () => undefined);
  supervisor.unref();
  return /** @type {Socket} */ (supervisor.stdio[3]);
}
