import { networkInterfaces } from 'node:os';

/** The loopback address: that of IPv6 where there is none of IPv4. */
export function loopback(): string {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const has = (sought: string): boolean => all.some(({ address }) => address === sought);
  return has('::1') && !has('127.0.0.1') ? '::1' : '127.0.0.1';
}
