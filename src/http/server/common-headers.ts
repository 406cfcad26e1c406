import { SECURITY_HEADERS } from './security-headers.js';

/** The headers of every response, except `X-Request-Id`. */
export const COMMON_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['Cache-Control', 'private, no-cache'],
  ['Vary', 'Accept, Authorization, Accept-Encoding'],
  ...SECURITY_HEADERS,
];

/** The headers of every response to a request, including `X-Request-Id`. */
export function commonHeaders(requestId: string): Record<string, string> {
  return { 'X-Request-Id': requestId, ...Object.fromEntries(COMMON_HEADERS) };
}
