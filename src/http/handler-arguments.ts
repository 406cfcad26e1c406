import type { Type } from '@nestjs/common';
import { PARAMTYPES_METADATA, ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal';
import { CredentialsQueryDto } from './parameters/credentials-query.dto.js';

/** An argument of a controller's method, as its decorator declares it. */
export interface HandlerArgument {
  readonly index: number;
  /** `undefined` for that of a decorator of one's own. */
  readonly kind: RouteParamtypes | string | undefined;
  /** What the decorator names, such as `brandID` in `@Param('brandID')`. */
  readonly name?: string;
  /** The class of the argument, as the compiler has it. */
  readonly type: unknown;
}

/** The decorated arguments of a controller's method, in their order. */
export function argumentsOf(controller: Type<object>, method: string): HandlerArgument[] {
  const declared = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<
    string,
    { index: number; data?: unknown }
  >;
  const types = (Reflect.getMetadata(PARAMTYPES_METADATA, controller.prototype as object, method) ??
    []) as unknown[];
  return Object.entries(declared)
    .map(([key, { index, data }]) => ({
      index,
      kind: Object.values(RouteParamtypes).find((each) => key === `${each}:${index}`),
      ...(typeof data === 'string' && { name: data }),
      type: types[index],
    }))
    .sort((one, other) => one.index - other.index);
}

/**
 * The class that declares the parameters of a controller's method: that of its `@Query()` argument. Without one,
 * there are the credentials alone.
 */
export function queryClassOf(controller: Type<object>, method: string): Type<object> {
  const query = argumentsOf(controller, method).find(({ kind }) => kind === RouteParamtypes.QUERY);
  return (query?.type as Type<object> | undefined) ?? CredentialsQueryDto;
}

/** What a controller's method is called with. */
export interface HandlerInput {
  readonly query: object;
  /** The parameters in the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly request?: object;
}

/** The arguments as Nest passes them, except for those that neither query, path nor request give. */
export function handlerValues(
  declared: readonly HandlerArgument[],
  { query, params = {}, request }: HandlerInput,
): unknown[] {
  const values: unknown[] = [];
  for (const { index, kind, name } of declared) {
    if (kind === RouteParamtypes.QUERY) values[index] = query;
    if (kind === RouteParamtypes.PARAM) values[index] = name === undefined ? params : params[name];
    if (kind === RouteParamtypes.REQUEST) values[index] = request;
  }
  return values;
}
