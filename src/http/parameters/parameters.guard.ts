import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { CatalogueRequest } from '../catalogue-request.js';
import { errors } from '../errors.js';
import { parametersOf } from './declared-parameters.js';
import { queryClassOf } from './query-class.js';
import { SentParameters } from './sent-parameters.js';

type Handler = ReturnType<ExecutionContext['getHandler']>;

/**
 * Throws `-23` for the first parameter that the handler's `@Query()` class does not declare. Without
 * such a class, only the credentials are allowed. It checks the names before any of them becomes a
 * property, so `__proto__` is a name like any other.
 */
@Injectable()
export class ParametersGuard implements CanActivate {
  private readonly declared = new Map<Handler, ReadonlySet<string>>();

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<CatalogueRequest>();
    request.trace?.enter('validation');
    const names = this.declaredNames(context);
    for (const { name } of request.parameters) {
      if (!names.has(name)) throw errors.parameterUndefined(name);
    }
    // An own property, because the getter of Express parses the query at every access.
    Object.defineProperty(request, 'query', { value: new SentParameters(request.parameters) });
    return true;
  }

  private declaredNames(context: ExecutionContext): ReadonlySet<string> {
    const handler = context.getHandler();
    let names = this.declared.get(handler);
    if (!names) {
      const query = queryClassOf(context.getClass(), handler.name);
      names = new Set(parametersOf(query).keys());
      this.declared.set(handler, names);
    }
    return names;
  }
}
