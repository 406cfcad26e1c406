import type { Type } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/internal';
import { argumentsOf } from '../handler-arguments.js';
import { CredentialsQueryDto } from './credentials-query.dto.js';

/**
 * The class that declares the parameters of a controller's method: that of its `@Query()` argument. Without one,
 * there are the credentials alone.
 */
export function queryClassOf(controller: Type<object>, method: string): Type<object> {
  const query = argumentsOf(controller, method).find(({ kind }) => kind === RouteParamtypes.QUERY);
  return (query?.type as Type<object> | undefined) ?? CredentialsQueryDto;
}
