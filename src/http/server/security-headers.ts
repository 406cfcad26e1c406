import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/**
 * What Helmet sets for an API, whose answers no page embeds. Collected once: also what never
 * reaches Express carries them.
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
