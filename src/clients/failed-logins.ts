import { Injectable } from '@nestjs/common';
import { isIPv6 } from 'node:net';
import type { ApiError } from '../http/errors.js';
import { Settings } from '../settings/settings.js';
import { FixedWindows, limitExceeded } from './fixed-windows.js';

/**
 * Counts failed logins per address and minute, in the memory of this instance. IPv6 addresses are
 * counted by their /64 network, since a host can use any address of it.
 */
@Injectable()
export class FailedLogins {
  private readonly windows = new FixedWindows(60_000);

  constructor(private readonly settings: Settings) {}

  /** Counts a failed login. Returns the error `-40` if it exceeds the limit. */
  count(address = ''): ApiError | undefined {
    const { failedLogins: limit } = this.settings;
    if (limit === 0) return undefined;
    const { count, milliseconds } = this.windows.count(networkOf(address));
    return count > limit ? limitExceeded(limit, milliseconds) : undefined;
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
