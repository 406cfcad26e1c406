import type { Type } from '@nestjs/common';
import { createDeclared } from '../schema/declared.js';
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
  await createDeclared(service.dataSource, before);
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
  const known = new Map([[service.clientID, service]]);
  for (const client of clients) {
    if (!known.has(client)) known.set(client, await service.newClient(client));
  }
  return {
    ...service,
    as: (client) => {
      const found = known.get(client);
      if (!found) throw new Error(`There is no client ${client}`);
      return found;
    },
  };
}
