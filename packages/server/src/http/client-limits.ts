import type { Request } from 'express';
import { isIP, isIPv4, isIPv6, SocketAddress } from 'node:net';
import { Injectable } from '@nestjs/common';
import { rightsOf } from '../resource/visibility.js';
import { Settings } from '../settings/settings.js';
import type { CatalogueRequest } from './request.js';
import { errors } from './errors.js';

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

/** Limits how many of something exist at a time for each key, such as requests per client. */
export class KeyedLimit {
  private readonly counts = new Map<string, number>();

  /** @param maximum the limit for each key */
  constructor(private readonly maximum: number) {}

  /**
   * Whether the key is below its maximum.
   *
   * @param share the fraction of the maximum that there is room for at present, up to 1
   */
  hasRoom(key: string, share = 1): boolean {
    return (this.counts.get(key) ?? 0) < this.maximum * share;
  }

  /** Counts one more until `leave`, if there is room. Returns false without counting otherwise. */
  enter(key: string, share = 1): boolean {
    if (!this.hasRoom(key, share)) return false;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    return true;
  }

  leave(key: string): void {
    const count = this.counts.get(key) ?? 0;
    if (count > 1) this.counts.set(key, count - 1);
    else this.counts.delete(key);
  }
}

/** Milliseconds after another client has asked for which a client has only its share. */
const SHARING = 10_000;
/** The fraction of its limit that a client has while there are others. */
const SHARE = 0.5;

/**
 * Limits the concurrent requests of each client; more get the error response `-4`. While there are several clients, each
 * has half of its limit, so that one does not have those of others refused. A request counts until its response is
 * produced, even if the client has disconnected.
 */
@Injectable()
export class ClientConcurrency {
  private readonly requests: KeyedLimit;
  private latest: string | undefined;
  /** The `performance.now()` value when `latest` last changed to another client. */
  private lastOther = -Infinity;

  constructor({ maxRequestsPerClient }: Settings) {
    this.requests = new KeyedLimit(maxRequestsPerClient);
  }

  /**
   * Produces a response to a request.
   *
   * @throws ApiError `-4` if too many requests of its client are in work
   */
  async run<T>({ client, waited }: CatalogueRequest, produce: () => Promise<T>): Promise<T> {
    // Those that waited for a change have a bound of their own: see `WaitingRequests`.
    if (!client || waited) return produce();
    const { clientID } = client;
    if (!this.requests.enter(clientID, this.shareOf(clientID))) throw errors.busy();
    try {
      return await produce();
    } finally {
      this.requests.leave(clientID);
    }
  }

  /** The fraction of the limit that a client has now: all of it while there is no other. */
  private shareOf(clientID: string): number {
    const now = performance.now();
    if (this.latest !== undefined && this.latest !== clientID) this.lastOther = now;
    this.latest = clientID;
    return now - this.lastOther < SHARING ? SHARE : 1;
  }
}
