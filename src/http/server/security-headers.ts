import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/**
 * The headers that Helmet sets for an API whose responses no page embeds. They are collected once,
 * because responses that do not pass through Express have them too.
 */
export const SECURITY_HEADERS: readonly (readonly [string, string])[] = collected();

function collected(): [string, string][] {
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
