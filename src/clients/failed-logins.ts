import { isIPv6 } from 'node:net';
import type { ApiError } from '../http/errors.js';
import { FixedWindows } from './fixed-windows.js';
import { limitExceeded } from './limit-exceeded.js';

/** Length of a window in milliseconds. It begins with the first failed login of an address. */
const WINDOW = 60_000;
/** Maximum number of counted addresses, about 10 MB: the number of /64 networks in a /48. */
const MAXIMUM_ADDRESSES = 65_536;

/**
 * Counts failed logins per address and minute, in the memory of this instance. IPv6 addresses are
 * counted by their /64 network, since a host can use any address of it.
 */
export class FailedLogins {
  private readonly windows = new FixedWindows(WINDOW, MAXIMUM_ADDRESSES);

  /** @param limit failed logins per minute; 0: no limit */
  constructor(private readonly limit: number) {}

  /** Counts a failed login. Returns the error `-40` if it exceeds the limit. */
  count(address = ''): ApiError | undefined {
    if (this.limit === 0) return undefined;
    const { count, milliseconds } = this.windows.count(networkOf(address));
    return count > this.limit ? limitExceeded(this.limit, milliseconds) : undefined;
  }
}

function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = [], tail = []] = address
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0');
  return [...head, ...zeros, ...tail].slice(0, 4).join(':');
}
