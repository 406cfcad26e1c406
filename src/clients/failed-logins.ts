import { isIPv6 } from 'node:net';
import { type ApiError, errors } from '../http/errors.js';
import { FixedWindows } from './fixed-windows.js';

/** Milliseconds of a window, which begins with the first failed login of an address in it. */
const WINDOW = 60_000;
/** Addresses that are counted at a time, some 10 MB: as many as there are /64 networks in a /48. */
const MAXIMUM_ADDRESSES = 65_536;

/**
 * Counts failed logins by address and minute: in memory, for this instance alone. An IPv6 address
 * counts as its /64 network, in which a host may take any address.
 */
export class FailedLogins {
  private readonly windows = new FixedWindows(WINDOW, MAXIMUM_ADDRESSES);

  /** @param limit failed logins a minute; 0 for no limit */
  constructor(private readonly limit: number) {}

  /** Counts one. Gives the refusal of a login that is one too many. */
  count(address = ''): ApiError | undefined {
    if (this.limit === 0) return undefined;
    const { count, remaining } = this.windows.count(networkOf(address));
    if (count <= this.limit) return undefined;
    const seconds = Math.max(1, Math.ceil(remaining / 1000));
    return errors.limitExceeded(String(this.limit)).withHeaders({ 'Retry-After': String(seconds) });
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
