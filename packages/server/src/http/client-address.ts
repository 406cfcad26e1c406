import type { Request } from 'express';
import { isIP, isIPv4, isIPv6, SocketAddress } from 'node:net';
import { rightsOf } from '../resource/visibility.js';
import type { CatalogueRequest } from './catalogue-request.js';

/** The address as trusted proxies report it, or else that of the connection; `undefined` if that is closed. */
export function clientAddress(request: Request): string | undefined {
  return canonical(request.ip) ?? canonical(request.socket.remoteAddress);
}

/** Reads the address once, so that `clientAddress` still knows it when the connection is closed: the socket remembers it. */
export function keepAddress({ socket }: Request): string | undefined {
  return socket.remoteAddress;
}

/** An IPv4 address, or the /64 network of an IPv6 one, since a host can use any address of it. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = [], tail = []] = address
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0');
  return [...head, ...zeros, ...tail].slice(0, 4).join(':');
}

/** What limits of a client count by: its identifier, and with a public token also the network of the address. */
export function limitKey(request: CatalogueRequest): string {
  const { clientID = '' } = request.client ?? {};
  // No identifier has a space.
  return rightsOf(request.client).isPublic
    ? `${clientID} ${networkOf(clientAddress(request) ?? '')}`
    : clientID;
}

/** An address with a port, as some proxies tell it, or in brackets. */
const WITH_PORT = /^(?:\[(.*)\](?::\d+)?|([\d.]+):\d+)$/;

/** The canonical form of an address: without a port and a zone, and IPv4-mapped IPv6 as IPv4. */
function canonical(told = ''): string | undefined {
  const text = told.replace(WITH_PORT, '$1$2');
  if (isIP(text) === 0) return undefined;
  if (isIPv4(text)) return text;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  const mapped = address.replace(/^::ffff:/, '');
  return isIPv4(mapped) ? mapped : address;
}
