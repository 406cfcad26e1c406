import type { ExecutionContext } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { type CatalogueRequest, sendsToken } from '../../http/request.js';
import { PRIVATE } from '../../http/server/headers.js';
import { argumentsOf, declaredBy, RouteParamtypes } from '../../private-api/decorators.js';
import { rightsOf } from '../../resource/visibility.js';

/**
 * Seconds for which a shared cache serves an answer without asking, and then while it asks for it again. After both it
 * waits for a new one. A browser may apply the second time once more to its own copy: an answer that is shown is at most
 * ten seconds old. Longer would save little: at this, a list costs the service one request in three seconds.
 */
export const [FRESH, STALE] = [3, 3];

const SHARED = `public, max-age=0, s-maxage=${FRESH}, stale-while-revalidate=${STALE}`;

/** Of the client whose request the cache has passed on, while others get the answer. */
const OF_ONE_READER = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

/**
 * Lets caches keep the answer to a public client that is named by `clientID` in the URL, and by nothing else: so all who
 * ask for this URL get the same. It has an entity tag, since an answer without one depends on more than the data. To be
 * called last, for what no error can follow.
 */
export function share(context: ExecutionContext, request: CatalogueRequest): void {
  const { client, headers, res } = request;
  const isAnyones =
    rightsOf(client).isPublic && !sendsToken(request) && !('x-client-id' in headers);
  // A guard or a middleware of the project has the last word.
  const isPlain = res.hasHeader('ETag') && res.getHeader('Cache-Control') === PRIVATE;
  if (!isAnyones || !isPlain || readsMore(context)) return;
  for (const name of OF_ONE_READER) res.removeHeader(name);
  // That of the client may say who it is.
  if ('x-request-id' in headers) res.setHeader('X-Request-Id', (request.id = randomUUID()));
  res.setHeader('Cache-Control', SHARED);
  const vary = String(res.getHeader('Vary')).split(', ');
  res.setHeader('Vary', vary.filter((name) => name !== 'Authorization').join(', '));
  const until = res.getHeader('X-Updated-Until');
  // An earlier one is as right. Whole seconds, so that many ask for the same URL next.
  if (typeof until === 'string') {
    res.setHeader('X-Updated-Until', until.replace(/\.\d+Z$/, 'Z'));
  }
}

/**
 * Whether the handler of a project, or what is declared around it, may read more of the request than its URL, such as a
 * header.
 */
function readsMore(context: ExecutionContext): boolean {
  const { QUERY, PARAM } = RouteParamtypes;
  const [controller, handler] = [context.getClass<object>(), context.getHandler()];
  return (
    [controller, handler].some(
      (each) => declaredBy(each, 'guards') ?? declaredBy(each, 'interceptors'),
    ) || argumentsOf(controller, handler.name).some(({ kind }) => kind !== QUERY && kind !== PARAM)
  );
}
