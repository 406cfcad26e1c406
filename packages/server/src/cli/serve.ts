import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type INestApplicationContext, Logger } from '@nestjs/common';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import type { EmbeddedServer } from 'embedded-postgres-server';
import {
  DEMO_CLIENT,
  DEMO_TOKEN,
  openDemonstration,
  loadDemonstration,
} from '../demo/load-demonstration.js';
import { type CatalogueRequest, receive } from '../http/request.js';
import { ListQueryDto } from '../list/query/list-query.dto.js';
import { endpointsOf } from '../http/endpoints.js';
import { sendError } from '../http/envelope.js';
import { noResourceAt } from '../http/errors.js';
import { connectionLimits } from '../http/server/connections.js';
import { EnvelopedServer } from '../http/server/enveloped-server.js';
import { Maintenance } from '../list/maintenance.js';
import { OperatorEndpoints } from '../operations/operator-endpoints.js';
import { writeStartLine } from '../operations/start-line.js';
import type { Project } from '../project.js';
import { SchemaCheck } from '../schema/schema-check.js';
import { searchLanguageDifference } from '../schema/search-language.js';
import { Settings } from '../settings/settings.js';
import { listen } from './listen.js';
import { prepareDatabase } from './prepare-database.js';

/** Migrates a database, and serves requests on it until the signal is aborted. */
export async function serve(
  project: Project,
  url: string,
  settings: Settings,
  stop: AbortSignal,
  embedded: EmbeddedServer | undefined,
): Promise<void> {
  const application = await prepareDatabase(project, url, settings, stop);
  if (!application) return;
  const dataSource = application.get(DataSource);
  const endpoints = application.get(OperatorEndpoints);
  let admin: Server | undefined;
  try {
    const difference = await searchLanguageDifference(dataSource, settings.searchLanguage);
    if (difference !== undefined) new Logger('Search').warn(difference);
    if (embedded) await loadDemonstration(project, dataSource);
    application.get(Maintenance).start();
    await application.get(SchemaCheck).start();
    admin = await openAdminServer(endpoints, settings);
    const server = application.getHttpServer();
    const address = await listen(server, 'PORT', settings.port, settings);
    const open = embedded ? await openDemonstration(dataSource) : [];
    const database = embedded
      ? `the embedded database in ${resolve(settings.dataDir)}`
      : databaseAt(url);
    writeStartLine('info', `Catalogue listens on ${address} and reads ${database}`);
    if (embedded && !isLoopback(server)) warnOfNetwork(settings.host, open);
    writeStartLine(
      'info',
      open.includes(DEMO_CLIENT)
        ? `Try: curl -H 'X-Client-ID: ${DEMO_CLIENT}' -H 'Authorization: Bearer ${DEMO_TOKEN}' '${address}${firstList(application)}?limit=2'`
        : 'Create a client with: catalogue client create <clientID>, and its token with: catalogue token issue <clientID>',
    );
    if (!stop.aborted) await once(stop, 'abort');
    endpoints.drain();
    // Time for a proxy to notice that the service is not ready.
    await sleep(settings.drain);
  } finally {
    endpoints.drain();
    await application.close();
    admin?.close();
    admin?.closeAllConnections();
  }
}

/** The path of a list, to try. */
function firstList(application: INestApplicationContext): string {
  const lists = endpointsOf(application).filter(
    ({ query }) => query.prototype instanceof ListQueryDto,
  );
  return lists.find(({ path }) => !path.includes(':'))?.path ?? '';
}

/** The name and the place of a database, without its credentials. */
function databaseAt(url: string): string {
  const { database = '', host, port } = new Client(url);
  return `the database ${database} on ${host}:${port}`;
}

function isLoopback(server: Server): boolean {
  return /^(127\.|::1$|::ffff:127\.)/.test((server.address() as AddressInfo).address);
}

/** Says what the network can read without a credential that is a secret. */
function warnOfNetwork(host: string, clients: readonly string[]): void {
  const catalogue = clients.map(
    (name) =>
      `, and the catalogue with the public token of the client ${name}: disable it with catalogue client disable ${name}`,
  );
  writeStartLine(
    'warn',
    `HOST is ${host}: the network can read health and metrics${catalogue.join('')}`,
  );
}

/** Serves health and metrics on `ADMIN_PORT`, if that is set. */
async function openAdminServer(
  endpoints: OperatorEndpoints,
  settings: Settings,
): Promise<Server | undefined> {
  const { adminPort } = settings;
  if (adminPort === undefined) return undefined;
  const { server } = new EnvelopedServer(
    {
      answer: (request, response, knownError) => {
        if (endpoints.handle(request, response, knownError)) return;
        const headError = receive(request as CatalogueRequest, response);
        sendError(response, knownError ?? headError ?? noResourceAt(request.url));
      },
    },
    connectionLimits((1 + settings.replicaUrls.length) * settings.poolSize).admin,
  );
  writeStartLine(
    'info',
    `Health and metrics are on ${await listen(server, 'ADMIN_PORT', adminPort, settings)}`,
  );
  return server;
}
