import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CommandError } from '../command-error.js';
import type { Settings } from '../settings/settings.js';

/**
 * Listens, and gives the address as a client on this machine reaches it.
 *
 * @param setting where the port comes from
 */
export async function listen(
  server: Server,
  setting: string,
  port: number,
  { host }: Settings,
): Promise<string> {
  try {
    // Not by Nest, which would log what is told below.
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new CommandError(`Port ${port} on ${host} is in use: set ${setting} to another one`);
    }
    throw new CommandError(`${host}:${port} cannot be listened on (HOST, ${setting}): ${message}`);
  }
  const { port: actual } = server.address() as AddressInfo;
  const reached = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${actual}`;
}
