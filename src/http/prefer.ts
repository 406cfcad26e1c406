import type { IncomingMessage } from 'node:http';

/** Maximum seconds that a request waits. Proxies end requests that take longer than some such time. */
const LONGEST_WAIT = 60;

/**
 * The seconds of `Prefer: wait=<seconds>` (RFC 7240, section 4.3), 60 at most. `undefined` without it, or if its value
 * is no number above 0: a preference that cannot be understood is ignored. The first of several counts.
 */
export function preferredWait({ headers: { prefer = '' } }: IncomingMessage): number | undefined {
  // Node joins several headers with commas. A comma in a quoted value separates nothing.
  const preferences = String(prefer).match(/([^,"]|"([^"\\]|\\.)*"?)+/g) ?? [];
  const wait = preferences.find((preference) => /^\s*wait\s*(=|;|$)/i.test(preference)) ?? '';
  const [, value = ''] = /^[^=;]*=\s*("?[0-9]+"?)\s*(;|$)/.exec(wait) ?? [];
  const seconds = Number(value.replaceAll('"', ''));
  return seconds > 0 ? Math.min(seconds, LONGEST_WAIT) : undefined;
}
