import { COMMON, headersNamed } from './headers.js';
import { IF_NONE_MATCH_REFERENCE } from './parameters.js';
import { ANYWHERE, errorReferences, notModified } from './responses.js';
import { json, type Json } from './schema.js';

/** The paths of the service itself. They need no credentials and ignore parameters. */
export function servicePaths(): Json {
  return {
    '/docs': publicPath({
      operationId: 'getDocumentation',
      summary: 'Read this document, and send requests',
      description: 'A page for browsers, to which `/` leads them. Parameters are ignored.',
      content: { 'text/html': { schema: { type: 'string' } } },
    }),
    '/openapi.json': publicPath({
      operationId: 'getOpenapi',
      summary: 'Get this document',
      description: 'As it is, not in an envelope. Parameters are ignored.',
      content: json({ type: 'object' }),
    }),
  };
}

function publicPath({ content, ...rest }: Json): Json {
  const named = headersNamed(...COMMON, 'Content-Encoding', 'ETag');
  return {
    get: {
      tags: ['service'],
      ...rest,
      parameters: [IF_NONE_MATCH_REFERENCE],
      security: [],
      responses: {
        200: { description: 'What is asked for.', headers: named, content },
        304: notModified(),
        ...errorReferences(ANYWHERE),
      },
    },
  };
}
