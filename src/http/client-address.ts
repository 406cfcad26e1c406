import type { Request } from 'express';
import { isIP, isIPv4, SocketAddress } from 'node:net';

/**
 * The address of a request's client, as the trusted proxies tell it; `undefined` where its
 * connection is closed already. Where they pass on what is no address, it is that of the connection.
 */
export function clientAddress(request: Request): string | undefined {
  return canonical(request.ip) ?? canonical(request.socket.remoteAddress);
}

/** The one form of an address: without a zone, and an IPv4 address never as one of IPv6. */
function canonical(text = ''): string | undefined {
  if (isIP(text) === 0) return undefined;
  if (isIPv4(text)) return text;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  const mapped = address.replace(/^::ffff:/, '');
  return isIPv4(mapped) ? mapped : address;
}
