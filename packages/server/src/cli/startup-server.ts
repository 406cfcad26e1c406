import type { Server } from 'node:http';
import type { Settings } from '../settings/settings.js';
import { type CatalogueRequest, receive } from '../http/request.js';
import { sendError } from '../http/envelope.js';
import { errors } from '../http/errors.js';
import { COMMON_HEADERS } from '../http/server/headers.js';
import { Cors } from '../http/server/cors.js';
import { EnvelopedServer } from '../http/server/enveloped-server.js';
import { connectionLimits } from '../http/server/connections.js';
import { answerHealth, healthCheckOf } from '../operations/operator-endpoints.js';
import { listen } from './listen.js';

/** Why the service is not ready: the database is unavailable, or not migrated. */
export type UnreadyReason = 'database' | 'migrations';

/**
 * Opens a server for the time before the database is migrated. It reports that the process is live and not ready, and
 * responds to all other requests with the error `-2`.
 *
 * @returns a function that closes the server
 * @throws CommandError if the server cannot listen
 */
export async function openStartupServer(
  settings: Settings,
  reason: () => UnreadyReason,
): Promise<() => void> {
  const { port, adminPort } = settings;
  const servers: Server[] = [];
  const close = (): void => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
  const limits = connectionLimits(0);
  const cors = new Cors(settings.corsOrigins);
  try {
    const hasHealth = adminPort === undefined;
    servers.push(await open('PORT', port, hasHealth && reason, cors, limits.service, settings));
    if (!hasHealth) {
      servers.push(
        await open('ADMIN_PORT', adminPort, reason, new Cors([]), limits.admin, settings),
      );
    }
  } catch (error) {
    close();
    throw error;
  }
  return close;
}

async function open(
  setting: string,
  port: number,
  reason: (() => UnreadyReason) | false,
  cors: Cors,
  maxConnections: number,
  settings: Settings,
) {
  const { server } = new EnvelopedServer(
    {
      answer: (request, response, knownError) => {
        const check = reason && healthCheckOf(request);
        const headers = check ? COMMON_HEADERS : cors.headersFor(request);
        const headError = receive(request as CatalogueRequest, response, headers);
        const error = knownError ?? headError;
        if (check && !error) {
          answerHealth(response, check === 'ready' ? reason() : undefined);
          return;
        }
        if (!check && !knownError && cors.answerPreflight(request, response)) return;
        sendError(response, error ?? errors.unavailable());
      },
      unparsedHeaders: cors.defaultHeaders,
    },
    maxConnections,
  );
  await listen(server, setting, port, settings);
  return server;
}
