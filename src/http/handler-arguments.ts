import type { Type } from '@nestjs/common';
import { PARAMTYPES_METADATA, ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal';

/** The arguments that this service knows. */
const KINDS = [
  RouteParamtypes.QUERY,
  RouteParamtypes.PARAM,
  RouteParamtypes.REQUEST,
  RouteParamtypes.RESPONSE,
  RouteParamtypes.NEXT,
] as const;

/** An argument of a controller's method, as its decorator declares it. */
export interface HandlerArgument {
  readonly index: number;
  /** `undefined` for any other, such as that of a decorator of one's own. */
  readonly kind: (typeof KINDS)[number] | undefined;
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
    .map(([key, { index, data }]): HandlerArgument => {
      return {
        index,
        kind: KINDS.find((each) => key === `${each}:${index}`),
        ...(typeof data === 'string' && { name: data }),
        type: types[index],
      };
    })
    .sort((one, other) => one.index - other.index);
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
    switch (kind) {
      case RouteParamtypes.QUERY:
        values[index] = query;
        break;
      case RouteParamtypes.PARAM:
        values[index] = name === undefined ? params : params[name];
        break;
      case RouteParamtypes.REQUEST:
        values[index] = request;
        break;
      default:
    }
  }
  return values;
}
