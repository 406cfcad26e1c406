import type { Server } from 'node:net';
import { setImmediate as pass } from 'node:timers/promises';
import { closeListener } from '../../private-api/server.js';
import type { EnvelopedServer } from './enveloped-server.js';

/** Minimum milliseconds that an idle connection stays open while the server closes. */
const IDLE_GRACE = 500;
/** Milliseconds after which every connection is closed; longer than the default query timeout. */
const DEADLINE = 15_000;
/** Milliseconds between two checks of the connections. */
const PERIOD = 20;
/** Maximum milliseconds for which the server accepts the connections that wait, and those that come after them. */
const ACCEPT_TIME = 3000;

/**
 * Stops listening. Resolves when every request in work is answered and every connection is closed,
 * after 15 seconds at most. The last response of a connection says `Connection: close`. An idle connection stays open for
 * half a second or longer, so that a request that is already under way is still answered.
 */
export async function closeGracefully({ server, connections }: EnvelopedServer): Promise<void> {
  if (!server.listening) return;
  const deadline = performance.now() + DEADLINE;
  connections.close();
  await acceptWaiting(server);
  const idleUntil = performance.now() + IDLE_GRACE;
  const sweep = setInterval(() => {
    const now = performance.now();
    // With no response left, a connection that is still open never sent a whole request.
    const isDone = now > idleUntil && connections.responses.length === 0;
    if (isDone || now > deadline) server.closeAllConnections();
  }, PERIOD);
  await closeListener(server);
  clearInterval(sweep);
}

/**
 * Lets the server accept the connections that wait in its backlog, which the system would reset when it
 * stops listening. A pass of the event loop accepts one, so that an overloaded server has many of them.
 * Ends with the first pass that found none. Node has no public function that closes the backlog to others, so that
 * an overloaded server still resets those that wait when its time is over. A proxy sends their requests to another.
 */
async function acceptWaiting(server: Server): Promise<void> {
  let accepted = true;
  const accept = (): void => {
    accepted = true;
  };
  server.on('connection', accept);
  for (const until = performance.now() + ACCEPT_TIME; accepted && performance.now() < until;) {
    accepted = false;
    // The first ends in the present pass, the second after the next poll.
    await pass();
    await pass();
  }
  server.off('connection', accept);
}
