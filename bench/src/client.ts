import { join } from 'node:path';
import { PROJECT } from './processes.js';

/** As far as it is used here. */
interface Resource {
  mirror(options: object): Promise<void>;
}

/** As far as it is used here. */
interface Client {
  readonly Transport: new (options: object) => object;
  readonly Resource: new (transport: object, name: string, identifier: string) => Resource;
}

/** A resource of the service, by the client of the project. */
export async function resourceOf(
  url: string,
  headers: Readonly<Record<string, string>>,
  name: string,
  identifier: string,
): Promise<Resource> {
  const file = join(PROJECT, 'packages', 'client', 'dist', 'index.js');
  const client = (await import(file)) as Client;
  const accessToken = headers.Authorization?.replace('Bearer ', '');
  const transport = new client.Transport({ url, clientID: headers['X-Client-ID'], accessToken });
  return new client.Resource(transport, name, identifier);
}
