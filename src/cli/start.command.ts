import { once } from 'node:events';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type INestApplicationContext, Logger } from '@nestjs/common';
import { Command } from 'commander';
import { DataSource } from 'typeorm';
import { DEMO_CLIENT, DEMO_TOKEN, loadDemonstration } from '../demo/load-demonstration.js';
import type { CatalogueRequest } from '../http/catalogue-request.js';
import { sendError } from '../http/envelope.js';
import { noResourceAt } from '../http/errors.js';
import { receive } from '../http/server/receive.js';
import { connectionLimits } from '../http/server/connection-limits.js';
import { createEnvelopedServer } from '../http/server/enveloped-server.js';
import { TallyKeeper } from '../list/tally/tally-keeper.js';
import type { OperatorEndpoints } from '../operations/operator-endpoints.js';
import { uncachedLists } from '../verify/uncached-lists.js';
import { Settings } from '../settings/settings.js';
import { listen } from './listen.js';
import { openDatabase } from './open-catalogue.js';
import { readyDatabase } from './ready-database.js';
import { stopSignal } from './stop-signal.js';

export function startCommand(): Command {
  return new Command('start')
    .description('runs the service until it is told to stop')
    .action(start);
}

/** Runs the service; resolves when SIGINT or SIGTERM has ended it and nothing of it is left. */
async function start(): Promise<void> {
  const settings = new Settings(process.env);
  const stop = stopSignal();
  // Whoever reads the log may go away: the service stays.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const { url, embedded } = await openDatabase(settings);
  try {
    const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
    await embedded?.claimService(`pid ${process.pid}, http://${host}:${settings.port}`);
    if (!(await readyDatabase(url, settings, stop))) return;
    // Here and not above, since no other command needs an HTTP server in its memory.
    const { createApplication } = await import('../application.js');
    const { OperatorEndpoints } = await import('../operations/operator-endpoints.js');
    const { SchemaCheck } = await import('../schema/schema-check.js');
    const application = await createApplication(url, settings);
    const endpoints = application.get(OperatorEndpoints);
    let admin: Server | undefined;
    try {
      if (embedded) await loadDemonstration(application.get(DataSource));
      application.get(TallyKeeper).start();
      const schema = application.get(SchemaCheck);
      await schema.start();
      if (schema.passed) await tellUncached(application);
      admin = await serveOperators(endpoints, settings);
      const address = await listen(application.getHttpServer(), 'PORT', settings.port, settings);
      console.log(`Catalogue listens on ${address}`);
      console.log(
        embedded
          ? `Try: curl -H 'X-Client-ID: ${DEMO_CLIENT}' -H 'Authorization: Bearer ${DEMO_TOKEN}' '${address}/products?limit=2'`
          : 'A client is made with: catalogue client create <clientID>, its token with: catalogue token issue <clientID>',
      );
      if (!stop.aborted) await once(stop, 'abort');
      endpoints.drain();
      // For a proxy that only ever asks whether it is ready.
      await sleep(settings.drain);
    } finally {
      endpoints.drain();
      await application.close();
      admin?.close();
      admin?.closeAllConnections();
    }
  } finally {
    await embedded?.release();
  }
}

/** Tells of the filters with which lists are not cached. */
async function tellUncached(application: INestApplicationContext): Promise<void> {
  const logger = new Logger('Lists');
  try {
    for (const line of await uncachedLists(application)) logger.warn(line);
  } catch (error) {
    logger.warn(`The filters of the lists could not be checked: ${(error as Error).message}`);
  }
}

/** Health and metrics on a port of their own, if they shall have one. */
async function serveOperators(
  endpoints: OperatorEndpoints,
  settings: Settings,
): Promise<Server | undefined> {
  const { adminPort } = settings;
  if (adminPort === undefined) return undefined;
  const { server } = createEnvelopedServer(
    {
      answer: (request, response, refusal) => {
        if (endpoints.handle(request, response)) return;
        const refused = receive(request as CatalogueRequest, response);
        sendError(response, refused ?? refusal ?? noResourceAt(request.url));
      },
    },
    connectionLimits((1 + settings.replicaUrls.length) * settings.poolSize).admin,
  );
  console.log(
    `Health and metrics are on ${await listen(server, 'ADMIN_PORT', adminPort, settings)}`,
  );
  return server;
}
