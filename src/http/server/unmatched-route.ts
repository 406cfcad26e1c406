import type { Express } from 'express';
import type { ILayer } from 'express-serve-static-core';
import type { CatalogueRequest } from '../catalogue-request.js';
import { type ApiError, errors, noResourceAt } from '../errors.js';

/** The types of Express lack `match`, which its router uses to find a route. */
interface MatchingLayer extends ILayer {
  match(path: string): unknown;
}

/** The error for a request that matches no route: `-30` for an unknown path, otherwise `-32` with `Allow`. */
export function unmatchedRoute(express: Express, request: CatalogueRequest): ApiError {
  const [path = ''] = request.url.split('?', 1);
  const layers = express.router.stack as MatchingLayer[];
  const methods = new Set(
    layers
      .filter((layer) => layer.route && layer.match(path))
      .flatMap((layer) => layer.route?.stack.map(({ method }) => method.toUpperCase()) ?? []),
  );
  if (methods.size === 0) return noResourceAt(path);
  if (methods.has('GET')) methods.add('HEAD');
  return errors
    .methodNotAllowed(request.method)
    .withHeaders({ Allow: [...methods].sort().join(', ') });
}
