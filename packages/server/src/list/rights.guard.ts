import { type CanActivate, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import type { CatalogueRequest } from '../http/request.js';
import { queryClassFor } from '../http/endpoints.js';
import { errors } from '../http/errors.js';
import { formOf } from '../http/negotiation.js';
import { declaredOf } from '../resource/declaration.js';
import { type Rights, rightsOf } from '../resource/visibility.js';
import { ChangesQueryDto } from './changes/changes-query.dto.js';
import { ListQueryDto } from './query/list-query.dto.js';
import { entityOf } from '../http/parameters/declared-parameters.js';

/** Throws `-15` for a resource that the client may not read, and for what is not for a client with a public token. */
@Injectable()
export class RightsGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<CatalogueRequest>();
    const rights = rightsOf(request.client);
    const query = queryClassFor(context);
    checkEndpoint(query, rights);
    if (rights.isPublic && query.prototype instanceof ListQueryDto && formOf(request).format)
      throw errors.forbidden('Whole lists are not for this client');
    return true;
  }
}

/** @throws ApiError `-15` if an endpoint with a query class is not for a client */
export function checkEndpoint(query: Type<object>, rights: Rights): void {
  const refused = refusalOf(query, rights);
  if (refused !== undefined) throw errors.forbidden(`${refused} not for this client`);
}

/**
 * What is not for a client of an endpoint with a query class, with its verb; `undefined` if all is. A custom handler may
 * read anything.
 */
export function refusalOf(query: Type<object>, rights: Rights): string | undefined {
  if (rights.isEverything) return undefined;
  if (query === ChangesQueryDto) return rights.isPublic ? 'Changes are' : undefined;
  const entity = entityOf(query);
  const read = entity && declaredOf({ target: entity })?.name;
  if (read === undefined) return 'This path is';
  return rights.mayRead(read) ? undefined : `The resource ${read} is`;
}
