import { Server as NetServer } from 'node:net';
import type { EnvelopedServer } from './enveloped-server.js';

/** Milliseconds that an idle connection stays open while the server closes. */
const IDLE_GRACE = 500;
/** Milliseconds after which every connection is closed; longer than the default query timeout. */
const DEADLINE = 15_000;
/** Milliseconds between two checks of the connections. */
const INTERVAL = 20;

/**
 * Stops listening. Resolves when every request in work is answered and every connection is closed,
 * after 15 seconds at most. Responses say `Connection: close`. An idle connection stays open for
 * half a second, so that a request that is already under way is still answered.
 */
export async function closeGracefully({ server, connections }: EnvelopedServer): Promise<void> {
  if (!server.listening) return;
  for (const response of connections.responses) {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  }
  const started = performance.now();
  const sweep = setInterval(() => {
    const passed = performance.now() - started;
    if (passed > IDLE_GRACE) server.closeIdleConnections();
    // With no response left, a connection that is still open never sent a whole request.
    const isDone = passed > IDLE_GRACE && connections.responses.length === 0;
    if (isDone || passed > DEADLINE) server.closeAllConnections();
  }, INTERVAL);
  // `http.Server.close` would close idle connections at once.
  await new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
  clearInterval(sweep);
}
