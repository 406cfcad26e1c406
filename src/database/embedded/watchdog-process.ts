/**
 * The watchdog process. It outlives its owner, however that ends, and then stops the server unless
 * another process uses it. Its standard input is a pipe whose other end only the owner holds: end of
 * input means that the owner has ended.
 *
 * Usage: node watchdog-process.js <cluster directory>. Standard input: one line of JSON for each
 * change of the owner's state (see `OwnerState`).
 */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Postmaster, runningPostmaster } from './postmaster.js';
import { type Session, acquireStopLock, connect, hasLease } from './session.js';
import { parseState } from './watchdog.js';

/** How long a server that the owner was starting may take to appear. */
const APPEAR_TIMEOUT_MS = 5_000;

/** How long a server may reject connections, while it replays its log or stops. */
const CONNECT_TIMEOUT_MS = 120_000;

/** How long a fast shutdown with its checkpoint may take. After that, an immediate shutdown. */
const STOP_TIMEOUT_MS = 60_000;

// Signals of a terminal or a service manager are for the owner, which has requests to finish.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

const [, , directory = ''] = process.argv;

let state = parseState('');
for await (const line of createInterface({ input: process.stdin })) state = parseState(line);

const ended = performance.now();
const since = (): number => performance.now() - ended;
while (since() < CONNECT_TIMEOUT_MS && !(await isDone())) await sleep(25);
process.exit();

async function isDone(): Promise<boolean> {
  const server = await runningPostmaster(directory);
  if (!server) return !state.starting || since() > APPEAR_TIMEOUT_MS;
  try {
    return server.ready && (await settle(await connect(directory, server.port), server));
  } catch {
    return false;
  }
}

/** Stops the server unless another process uses it. Returns true when done. */
async function settle(client: Session, server: Postmaster): Promise<boolean> {
  try {
    // Wait until the owner's lease is gone. If several owners end together, the watchdog that asks
    // last then finds no lease. One that finds a lease can exit: its holder has a watchdog too.
    while (await hasLease(client, state.backend)) await sleep(10);
    if (await acquireStopLock(client)) await stop(server);
    return true;
  } finally {
    void client.end().catch(() => undefined);
  }
}

async function stop({ pid }: Postmaster): Promise<void> {
  const began = performance.now();
  // Checked before each signal: the process id of a dead server may be reused.
  const runs = async (): Promise<boolean> => (await runningPostmaster(directory))?.pid === pid;
  if (await runs()) process.kill(pid, 'SIGINT');
  while (await runs()) {
    if (performance.now() - began > STOP_TIMEOUT_MS) {
      process.kill(pid, 'SIGQUIT');
      return;
    }
    await sleep(10);
  }
}
