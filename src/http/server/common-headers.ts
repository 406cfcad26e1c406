import { SECURITY_HEADERS } from './security-headers.js';

/** Header names and values, in the order in which they are sent. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** The headers of every response without CORS, except `X-Request-Id`. */
export const COMMON_HEADERS: HeaderList = [
  ['Cache-Control', 'private, no-cache'],
  ['Vary', 'Accept, Authorization, Accept-Encoding'],
  ...SECURITY_HEADERS,
];
