import { join } from 'node:path';
import { PROJECT } from './processes.js';

/** As far as it is used here. */
export interface Mirror {
  round(options?: object): Promise<boolean>;
}

/** As far as it is used here. */
interface Client {
  readonly Transport: new (options: object) => object;
  readonly Mirror: new (transport: object, stores: object, options: object) => Mirror;
}

/**
 * Copies of resources of the service, by the client of the project.
 *
 * @param stores by the name of the resource
 */
export async function mirrorOf(
  url: string,
  headers: Readonly<Record<string, string>>,
  stores: object,
  options: object,
): Promise<Mirror> {
  const file = join(PROJECT, 'packages', 'client', 'dist', 'index.js');
  const client = (await import(file)) as Client;
  const accessToken = headers.Authorization?.replace('Bearer ', '');
  const transport = new client.Transport({ url, clientID: headers['X-Client-ID'], accessToken });
  return new client.Mirror(transport, stores, options);
}
