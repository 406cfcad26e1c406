import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Settings } from '../../settings/settings.js';
import type { CatalogueRequest } from '../catalogue-request.js';
import { errors } from '../errors.js';
import { queryClassOf } from '../endpoints.js';
import { isAllowed, settingsFor } from './declared-parameters.js';
import type { SentQuery } from './parameters.pipe.js';

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
    const query = queryClassOf(context.getClass(), context.getHandler().name);
    const settings = settingsFor(this.settings, request.client?.rights);
    for (const { name } of request.parameters) {
      if (!isAllowed(query, name, settings)) throw errors.parameterUndefined(name);
    }
    // An own property, because the getter of Express parses the query at every access. A request that waits gets another.
    const sent: SentQuery = { parameters: request.parameters, settings };
    Object.defineProperty(request, 'query', { value: sent, configurable: true });
    return true;
  }
}
