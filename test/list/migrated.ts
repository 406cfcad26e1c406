import type { Type } from '@nestjs/common';
import { ClientsService } from '../../src/clients/clients.service.js';
import { migrationChanges } from '../../src/schema/parts/parts.js';
import { type Service, startService } from '../service.js';

/** Starts the service with the resource of a module of a test, and creates what its entity declares. */
export async function startWith(
  module: Type,
  {
    before = [],
    environment = {},
  }: { before?: readonly string[]; environment?: NodeJS.ProcessEnv } = {},
): Promise<Service> {
  const service = await startService(environment, module);
  const { up } = await migrationChanges(service.dataSource);
  // The indexes, the triggers and the tally of the service come behind all tables.
  const created = up.findLastIndex((statement) => statement.startsWith('CREATE TABLE')) + 1;
  for (const statement of [...up.slice(0, created), ...before, ...up.slice(created)]) {
    await service.dataSource.query(statement);
  }
  return service;
}

/** A service that several clients use. */
export interface SharedService extends Service {
  /** The service with the credentials of a client. */
  as(client: string): Service;
}

/** Creates the clients of a service. */
export async function withClients(
  service: Service,
  clients: readonly string[],
): Promise<SharedService> {
  const known = service.application.get(ClientsService);
  const tokens = new Map<string, string>();
  for (const client of clients) {
    if (client !== service.clientID) await known.create(client, {});
    tokens.set(client, (await known.issue(client, null)).token);
  }
  return {
    ...service,
    as: (clientID) => {
      const token = tokens.get(clientID) ?? '';
      const headers = { 'X-Client-ID': clientID, Authorization: `Bearer ${token}` };
      return {
        ...service,
        clientID,
        token,
        get: (path) => service.anonymous().get(path).set(headers),
      };
    },
  };
}
