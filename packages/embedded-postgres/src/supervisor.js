/**
 * The supervisor: the parent process of a server, which it starts again after a crash. Each process
 * that uses the server has a connection to the supervisor, which the system closes however that process
 * ends. When the last connection is closed, the supervisor stops the server and ends.
 *
 * Usage: node supervisor.js <cluster directory> <JSON of the cluster and the settings>, in the
 * directory, with the first connection as file descriptor 3. It writes a `Message` a line, and reads a
 * claim a line.
 */
import { once } from 'node:events';
import { chown, mkdtemp, rm, symlink } from 'node:fs/promises';
import { Socket, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { SOCKET } from './connection.js';
import { messageOf } from './errors.js';
import { PostgresProcess, freePort, hostOf } from './postgres-process.js';
import { removeStaleLockFile, runningPostmaster } from './postmaster.js';

/** @import { Cluster } from './cluster.js' */
/** @import { Message } from './connection.js' */

/** Delay between two attempts to start a server. */
const RETRY_DELAY_MS = 200;

/**
 * How often the port of the last start is tried before another one is taken: for about 5 seconds. Users
 * of a supervisor that was killed have a URL with it, and another process may have it for a moment, such
 * as a second supervisor that tries it, too.
 */
const PORT_ATTEMPTS = 25;

// Signals of a terminal or a service manager are for the users, which have requests to finish.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);

/** @type {Cluster & { settings: Record<string, string> }} */
const { settings, ...cluster } = JSON.parse(process.argv[3] ?? '');

/** @type {Set<Socket>} */
const users = new Set();
/** Users that were not told the port yet. @type {Set<Socket>} */
const waiting = new Set();
/** @type {{ user: Socket; holder: string } | undefined} */
let claim;
/** @type {PostgresProcess | undefined} */
let server;
/** The port of the server once it has been ready: it never changes, since users have its URL. */
let port = 0;
/** Where it listens. */
let folder = '';
let isReady = false;
let isStopping = false;

const listener = createServer({ allowHalfOpen: true }, serve);
serve(new Socket({ fd: 3, allowHalfOpen: true }));
await run().catch((/** @type {unknown} */ error) => {
  // When the users have read it and left, this process ends.
  for (const user of users) user.end(line({ error: messageOf(error) }));
});

/** Keeps a server running until `stop`. */
async function run() {
  for (let attempts = 1; ;) {
    await waitForOthers();
    await removeStaleLockFile(cluster.directory);
    const isPatient = attempts < PORT_ATTEMPTS;
    const free = port || (await freePort(cluster.directory, { isPatient, host: hostOf(settings) }));
    // Nothing may come between this check and the start: `stop` would miss the server.
    if (isStopping) return;
    if (free === undefined) {
      attempts++;
      await sleep(RETRY_DELAY_MS);
      continue;
    }
    server = new PostgresProcess(cluster, { ...settings, port: String(free) });
    if (await server.becomesReady()) {
      port = free;
      if (!listener.listening) await listen();
      isReady = true;
      greet();
      await server.ended;
      isReady = false;
    } else {
      const reason = await server.failure();
      if (port === 0 && reason !== undefined) throw new Error(reason);
      await sleep(RETRY_DELAY_MS);
    }
  }
}

/** Waits while another server runs on the cluster. Ends this process if it has a supervisor. */
async function waitForOthers() {
  for (;;) {
    const other = await runningPostmaster(cluster.directory);
    if (!other) return;
    if (other.isSupervised && other.isReady) process.exit();
    try {
      // Its supervisor was killed.
      if (!other.isSupervised) process.kill(other.pid, 'SIGINT');
    } catch {
      // It has ended.
    }
    await sleep(20);
  }
}

/** Listens for further users, in place of any supervisor before this one. */
async function listen() {
  // Its path must be short. A machine whose files are read-only may have no other place than that of the data.
  folder = await mkdtemp(join(tmpdir(), 'embedded-postgres-')).catch(() =>
    mkdtemp(resolve('socket-')),
  );
  const path = join(folder, 'socket');
  listener.listen(path);
  await once(listener, 'listening');
  // The account may use the server, too, without being root.
  const { account } = cluster;
  if (account) for (const each of [folder, path]) await chown(each, account.uid, account.gid);
  // No other supervisor writes it, since none has a running server.
  await rm(SOCKET, { force: true });
  await symlink(path, SOCKET);
}

/** Tells the port to those that wait for it. */
function greet() {
  if (!isReady) return;
  for (const user of waiting) user.write(line({ port }));
  waiting.clear();
}

/** @param {Socket} user */
function serve(user) {
  users.add(user);
  waiting.add(user);
  greet();
  createInterface({ input: user }).on('line', (holder) => {
    claim ??= { user, holder };
    user.write(line(claim.user === user ? {} : { holder: claim.holder }));
  });
  user.on('error', () => undefined);
  for (const event of ['end', 'close']) {
    user.on(event, () => {
      leave(user);
    });
  }
}

/** @param {Socket} user */
function leave(user) {
  waiting.delete(user);
  if (!users.delete(user)) return;
  if (claim?.user === user) claim = undefined;
  // The connection of the last one is closed when the server has stopped.
  if (users.size > 0) user.end();
  else void stop();
}

async function stop() {
  isStopping = true;
  if (listener.listening) {
    listener.close();
    // Before the server has stopped, and another supervisor listens.
    for (const path of [SOCKET, folder]) await rm(path, { recursive: true, force: true });
  }
  await server?.stop();
  process.exit();
}

/** @param {Message} message */
function line(message) {
  return `${JSON.stringify(message)}\n`;
}
