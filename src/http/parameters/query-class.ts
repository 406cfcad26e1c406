import type { Type } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/internal';
import { argumentsOf } from '../handler-arguments.js';

/**
 * The class of the `@Query()` argument of a controller's method; `undefined` if it has no such argument.
 */
export function queryClass(controller: Type<object>, method: string): Type<object> | undefined {
  const query = argumentsOf(controller, method).find(({ kind }) => kind === RouteParamtypes.QUERY);
  return query?.type as Type<object> | undefined;
}
