import type { Request } from 'express';
import { isIP, isIPv4, SocketAddress } from 'node:net';

/** The address as trusted proxies report it, or else that of the connection; `undefined` if that is closed. */
export function clientAddress(request: Request): string | undefined {
  return canonical(request.ip) ?? canonical(request.socket.remoteAddress);
}

/** The canonical form of an address: without a zone, and IPv4-mapped IPv6 as IPv4. */
function canonical(text = ''): string | undefined {
  if (isIP(text) === 0) return undefined;
  if (isIPv4(text)) return text;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  const mapped = address.replace(/^::ffff:/, '');
  return isIPv4(mapped) ? mapped : address;
}
