import { type INestApplicationContext, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { argumentsOf, type HandlerInput, handlerValues } from './handler-arguments.js';
import { CredentialsQueryDto } from './parameters/credentials-query.dto.js';
import { queryClass } from './parameters/query-class.js';

/** A GET route of a controller. */
export interface Endpoint {
  readonly controller: Type<object>;
  /** The name of the controller's method. */
  readonly method: string;
  /** The path pattern of Express, such as `/products/:productID`. */
  readonly path: string;
  /** The class that declares its parameters. */
  readonly query: Type<object>;
  /** Calls the controller's method as Nest does, but without its guards, pipes and interceptors. */
  readonly call: (input: HandlerInput) => unknown;
}

type Handler = (...args: readonly unknown[]) => unknown;

/** Every `@Get()` route of an application, in the order of its modules. */
export function endpointsOf(application: INestApplicationContext): Endpoint[] {
  return endpointsIn(application.get(ModulesContainer));
}

/** Every `@Get()` route of some modules, in their order. */
export function endpointsIn(modules: ModulesContainer): Endpoint[] {
  const controllers = [...modules.values()].flatMap(({ controllers: all }) => [...all.values()]);
  return controllers.flatMap(({ instance, metatype }) => {
    const controller = metatype as Type<object>;
    const handlers = instance as Record<string, Handler>;
    return Object.getOwnPropertyNames(controller.prototype).flatMap((method) => {
      const handler = handlers[method];
      if (!handler || Reflect.getMetadata(METHOD_METADATA, handler) !== RequestMethod.GET)
        return [];
      const path = joined(
        Reflect.getMetadata(PATH_METADATA, controller),
        Reflect.getMetadata(PATH_METADATA, handler),
      );
      const query = queryClass(controller, method) ?? CredentialsQueryDto;
      const declared = argumentsOf(controller, method);
      const call = (input: HandlerInput): unknown =>
        handler.apply(instance, handlerValues(declared, input));
      return { controller, method, path, query, call };
    });
  });
}

/** The names of the parameters in the path of an endpoint. */
export function pathParametersOf({ path }: Pick<Endpoint, 'path'>): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
}

function joined(...parts: unknown[]): string {
  const names = parts.flatMap((part) => String(part).split('/')).filter((name) => name !== '');
  return `/${names.join('/')}`;
}
