import { COMMON, headersNamed } from './headers.js';
import { ANYWHERE, errorReferences } from './responses.js';
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
      parameters: [{ $ref: '#/components/parameters/If-None-Match' }],
      security: [],
      responses: {
        200: { description: 'What is asked for.', headers: named, content },
        304: {
          description: 'Not Modified: what `If-None-Match` names is what there is. No body.',
          headers: headersNamed(...COMMON, 'ETag'),
        },
        ...errorReferences(ANYWHERE),
      },
    },
  };
}
