/**
 * A process of its own that outlives its owner, whichever way that ends, and then stops the server
 * unless somebody else uses it. Its standard input is a pipe whose other end only its owner holds:
 * the end of the input is the end of the owner.
 *
 * Usage: node guardian.js <cluster directory>. On its input, a line each time the owner's state
 * changes (see `OwnerState`).
 */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseState } from './guard.js';
import { type Postmaster, runningPostmaster } from './postmaster.js';
import { type Session, connect, hasLease, takeRightToStop } from './session.js';

/** How long a server may take to appear that the owner was starting when it ended. */
const APPEARS_WITHIN_MS = 5_000;

/** How long a server may refuse connections (it replays its log, or is stopping) before we give up. */
const CONNECTS_WITHIN_MS = 120_000;

/** How long a server may take to write its checkpoint and stop, before it is told to do without. */
const STOPS_WITHIN_MS = 60_000;

// Ctrl-C, a closed terminal and a service manager are for the owner: it has requests to finish.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

const [, , directory = ''] = process.argv;

let state = parseState('');
for await (const line of createInterface({ input: process.stdin })) state = parseState(line);

const ended = performance.now();
const since = (): number => performance.now() - ended;
while (since() < CONNECTS_WITHIN_MS && !(await isDone())) await sleep(25);
process.exit();

async function isDone(): Promise<boolean> {
  const server = await runningPostmaster(directory);
  if (!server) return !state.starting || since() > APPEARS_WITHIN_MS;
  try {
    return server.ready && (await settle(await connect(directory, server.port), server));
  } catch {
    return false;
  }
}

/** Stops the server or leaves it to others; true when that is done. */
async function settle(client: Session, server: Postmaster): Promise<boolean> {
  try {
    // The owner's own lease must be seen to be gone. Then of several guardians whose owners end
    // together, the last to ask finds no lease at all; one that finds any can leave, since
    // whoever holds it has a guardian too.
    while (await hasLease(client, state.backend)) await sleep(10);
    if (await takeRightToStop(client)) await stop(server);
    return true;
  } finally {
    void client.end().catch(() => undefined);
  }
}

async function stop({ pid }: Postmaster): Promise<void> {
  const told = performance.now();
  // A server that has just been killed leaves its number to others: look again before each signal.
  const runs = async (): Promise<boolean> => (await runningPostmaster(directory))?.pid === pid;
  if (await runs()) process.kill(pid, 'SIGINT');
  while (await runs()) {
    if (performance.now() - told > STOPS_WITHIN_MS) {
      process.kill(pid, 'SIGQUIT');
      return;
    }
    await sleep(10);
  }
}
