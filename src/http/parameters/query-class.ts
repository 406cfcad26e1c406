import type { Type } from '@nestjs/common';
import { PARAMTYPES_METADATA, ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal';

/**
 * The class of the `@Query()` argument of a controller's method, from the metadata of Nest and of the
 * compiler; `undefined` if it has no such argument.
 */
export function queryClass(controller: Type<object>, method: string): Type<object> | undefined {
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<
    string,
    { index: number }
  >;
  const types = (Reflect.getMetadata(PARAMTYPES_METADATA, controller.prototype as object, method) ??
    []) as Type<object>[];
  const query = Object.entries(args).find(([key]) => key.startsWith(`${RouteParamtypes.QUERY}:`));
  return query && types[query[1].index];
}
