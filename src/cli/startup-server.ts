import type { Server } from 'node:http';
import type { CatalogueRequest } from '../http/catalogue-request.js';
import { sendError } from '../http/envelope.js';
import { errors } from '../http/errors.js';
import { receive } from '../http/server/receive.js';
import { createEnvelopedServer } from '../http/server/enveloped-server.js';
import { connectionLimits } from '../http/server/connection-limits.js';
import { answerHealth } from '../operations/health.js';
import type { Settings } from '../settings/settings.js';
import { listen } from './listen.js';

/** Why the service is not ready: its database is not there, or not migrated. */
export type Cause = 'database' | 'migrations';

/**
 * Answers as long as the database is not there yet: that the process lives, that it is not ready,
 * and `-2` to everything else.
 *
 * @returns what ends it
 */
export async function openWaitingRoom(settings: Settings, cause: () => Cause): Promise<() => void> {
  const { port, adminPort } = settings;
  const servers: Server[] = [];
  const leave = (): void => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
  const limits = connectionLimits(0);
  try {
    const hasHealth = adminPort === undefined;
    servers.push(await open('PORT', port, hasHealth && cause, limits.service, settings));
    if (!hasHealth) {
      servers.push(await open('ADMIN_PORT', adminPort, cause, limits.admin, settings));
    }
  } catch (error) {
    leave();
    throw error;
  }
  return leave;
}

async function open(
  setting: string,
  port: number,
  cause: (() => Cause) | false,
  maxConnections: number,
  settings: Settings,
) {
  const { server } = createEnvelopedServer(
    {
      answer: (request, response, refusal) => {
        if (cause && answerHealth(request, response, () => Promise.resolve(cause()))) return;
        const refused = receive(request as CatalogueRequest, response);
        sendError(response, refused ?? refusal ?? errors.unavailable());
      },
    },
    maxConnections,
  );
  await listen(server, setting, port, settings);
  return server;
}
