import { type CanActivate, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import type { ScopeClient } from '../../resource/visibility.js';
import { Settings } from '../../settings/settings.js';
import type { CatalogueRequest } from '../catalogue-request.js';
import { errors } from '../errors.js';
import { queryClassFor } from '../endpoints.js';
import { isAllowed } from './allowed-parameters.js';
import { settingsFor } from './declared-parameters.js';
import type { SentQuery } from './parameters.pipe.js';
import type { SentParameter } from './query-string.js';

/**
 * Throws `-23` for the first parameter that the handler's `@Query()` class does not declare, or that is not for the
 * client. Without such a class, only the credentials are allowed. It checks the names before any of them becomes a
 * property, so `__proto__` is a name like any other.
 */
@Injectable()
export class ParametersGuard implements CanActivate {
  constructor(private readonly settings: Settings) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<CatalogueRequest>();
    request.trace?.enter('validation');
    const query = queryClassFor(context);
    const sent = sentQuery(query, request.parameters, this.settings, request.client);
    // An own property, because the getter of Express parses the query at every access. A request that waits gets another.
    Object.defineProperty(request, 'query', { value: sent, configurable: true });
    return true;
  }
}

/** @throws ApiError `-23` for the first parameter that a query class does not declare, or that is not for the client */
export function sentQuery(
  query: Type<object>,
  parameters: readonly SentParameter[],
  settings: Settings,
  client: ScopeClient | undefined,
): SentQuery {
  const bounds = settingsFor(settings, client);
  for (const { name } of parameters) {
    if (!isAllowed(query, name, bounds)) throw errors.parameterUndefined(name);
  }
  return { parameters, settings: bounds, queryClass: query };
}
