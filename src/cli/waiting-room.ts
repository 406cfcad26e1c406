import type { CatalogueRequest } from '../http/catalogue-request.js';
import { refuse } from '../http/envelope.js';
import { errors } from '../http/errors.js';
import { receive } from '../http/receive.js';
import { createEnvelopedServer } from '../http/server/enveloped-server.js';
import { connectionLimits } from '../http/server/connection-limits.js';
import { answerHealth } from '../operations/health.js';
import type { Settings } from '../settings.js';
import { listen } from './listen.js';

/**
 * Answers as long as the database is not there yet: that the process lives, that it is not ready,
 * and `-2` to everything else.
 *
 * @returns what ends it
 */
export async function openWaitingRoom(settings: Settings): Promise<() => void> {
  const { port, adminPort } = settings;
  const servers = [
    await open('PORT', port, adminPort === undefined, settings),
    ...(adminPort === undefined ? [] : [await open('ADMIN_PORT', adminPort, true, settings)]),
  ];
  return () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
}

async function open(setting: string, port: number, hasHealth: boolean, settings: Settings) {
  const { server } = createEnvelopedServer(
    {
      answer: (request, response, refusal) => {
        if (hasHealth && answerHealth(request, response, () => Promise.resolve('database'))) return;
        const refused = receive(request as CatalogueRequest, response);
        refuse(response, refused ?? refusal ?? errors.unavailable());
      },
    },
    connectionLimits(0).service,
  );
  await listen(server, setting, port, settings);
  return server;
}
