import { ANYWHERE, COMMON, headersNamed, type ErrorResponses } from './responses.js';
import { json, type Json } from './schema.js';

const text = { type: 'string', maxLength: 1_000_000, pattern: '^[^\\u0000]*$' };

/** The paths of the service itself. They need no credentials and ignore parameters. */
export function servicePaths(errorResponses: ErrorResponses): Json {
  return {
    '/docs': bothWays({
      operationId: 'getDocumentation',
      summary: 'Read this document, and send requests',
      description: 'A page for browsers, to which `/` leads them. Parameters are ignored.',
      responses: {
        200: page('The page.', { 'text/html': { schema: text } }),
        ...errorResponses.of(ANYWHERE),
      },
    }),
    '/openapi.json': bothWays({
      operationId: 'getOpenapi',
      summary: 'Get this document',
      description: 'As it is, not in an envelope. Parameters are ignored.',
      responses: {
        200: page('The document.', json({ type: 'object' })),
        ...errorResponses.of(ANYWHERE),
      },
    }),
  };
}

/** The operations `GET` and `HEAD` of a path. */
function bothWays({ operationId, summary, ...rest }: Json): Json {
  const common = { tags: ['service'], security: [] };
  return {
    get: { ...common, operationId, summary, ...rest },
    head: {
      ...common,
      operationId: `${String(operationId)}Head`,
      summary: `${String(summary)}: the headers alone`,
      ...rest,
    },
  };
}

function page(description: string, content: Json): Json {
  return { description, headers: headersNamed(...COMMON), content };
}
