import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CommandError } from '../command-error.js';
import { loopback, type Settings } from '../settings/settings.js';

/**
 * Connections that may wait to be accepted. With a full backlog, the system drops the handshake of a
 * further one, and its client tries again after a second or more. Linux lowers it to `net.core.somaxconn`.
 */
const BACKLOG = 4096;

/**
 * @param setting the name of that of the port, for error messages
 * @returns the base URL for clients on this machine
 * @throws CommandError if the address is in use or cannot be bound
 */
export async function listen(
  server: Server,
  setting: string,
  port: number,
  { host }: Settings,
): Promise<string> {
  try {
    // By default, Node takes `::` with IPv4, and 0.0.0.0 where there is no IPv6.
    const options = { port, host: host === '::' ? undefined : host, backlog: BACKLOG };
    // Not by Nest, which would also log the error.
    await once(server.listen(options), 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new CommandError(`Port ${port} on ${host} is in use: set ${setting} to another one`);
    }
    throw new CommandError(`Cannot listen on ${host}:${port} (HOST, ${setting}): ${message}`);
  }
  const { port: actual } = server.address() as AddressInfo;
  const local = ['0.0.0.0', '::'].includes(host) ? loopback() : host;
  return `http://${local.includes(':') ? `[${local}]` : local}:${actual}`;
}
