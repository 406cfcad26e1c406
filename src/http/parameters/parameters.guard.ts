import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { CatalogueRequest } from '../catalogue-request.js';
import { CredentialsQueryDto } from './credentials-query.dto.js';
import { errors } from '../errors.js';
import { parametersOf } from './declared-parameters.js';
import { queryClass } from './query-class.js';
import { SentParameters } from './sent-parameters.js';

type Handler = ReturnType<ExecutionContext['getHandler']>;

/**
 * Refuses every parameter that the handler's `@Query()` class does not declare, and every
 * parameter but the credentials where there is no such class. It looks at the names as they were
 * sent, before any of them becomes a property, so `__proto__` is a name like any other.
 */
@Injectable()
export class ParametersGuard implements CanActivate {
  private readonly declared = new Map<Handler, ReadonlySet<string>>();

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<CatalogueRequest>();
    const names = this.declaredNames(context);
    for (const { name } of request.parameters) {
      if (!names.has(name)) throw errors.parameterUndefined(name);
    }
    // Express parses the query anew whenever `query` is read: an own property stands before that.
    Object.defineProperty(request, 'query', { value: new SentParameters(request.parameters) });
    return true;
  }

  private declaredNames(context: ExecutionContext): ReadonlySet<string> {
    const handler = context.getHandler();
    let names = this.declared.get(handler);
    if (!names) {
      const query = queryClass(context.getClass(), handler.name) ?? CredentialsQueryDto;
      names = new Set(parametersOf(query).keys());
      this.declared.set(handler, names);
    }
    return names;
  }
}
