import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/** Header names and values, in the order in which they are sent. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/**
 * The headers that Helmet sets for an API whose responses no page embeds. They are collected once,
 * because responses that do not pass through Express have them too.
 */
export const SECURITY_HEADERS: HeaderList = collected();

/** Nobody but the client keeps a response, and it asks each time before it uses it again. */
export const PRIVATE = 'private, no-cache';

export const VARY = 'Accept, Authorization, Accept-Encoding';

/** The headers of every response without CORS, except `X-Request-Id`. */
export const COMMON_HEADERS: HeaderList = [
  ['Cache-Control', PRIVATE],
  ['Vary', VARY],
  ...SECURITY_HEADERS,
];

function collected(): HeaderList {
  const headers: [string, string][] = [];
  const response = {
    setHeader: (name: string, value: string) => headers.push([name, value]),
    removeHeader: () => undefined,
  };
  const set = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    xFrameOptions: { action: 'deny' },
  });
  set({} as IncomingMessage, response as unknown as ServerResponse, () => undefined);
  return headers;
}
