import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { CatalogueRequest } from '../catalogue-request.js';
import { errors } from '../errors.js';
import { queryClassOf } from '../endpoints.js';
import { parametersOf } from './declared-parameters.js';

/**
 * Throws `-23` for the first parameter that the handler's `@Query()` class does not declare. Without
 * such a class, only the credentials are allowed. It checks the names before any of them becomes a
 * property, so `__proto__` is a name like any other.
 */
@Injectable()
export class ParametersGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<CatalogueRequest>();
    request.trace?.enter('validation');
    const declared = parametersOf(queryClassOf(context.getClass(), context.getHandler().name));
    for (const { name } of request.parameters) {
      if (!declared.has(name)) throw errors.parameterUndefined(name);
    }
    // An own property, because the getter of Express parses the query at every access.
    Object.defineProperty(request, 'query', { value: request.parameters });
    return true;
  }
}
