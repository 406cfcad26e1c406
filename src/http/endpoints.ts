import { type INestApplicationContext, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ContextIdFactory, ModuleRef, ModulesContainer } from '@nestjs/core';
import type { Module } from '@nestjs/core/injector/module.js';
import {
  argumentsOf,
  type HandlerInput,
  handlerValues,
  queryClassOf,
} from './handler-arguments.js';

/** A GET route of a controller. */
export interface Endpoint {
  readonly controller: Type<object>;
  /** The name of the controller's method. */
  readonly method: string;
  /** The path pattern of Express, such as `/products/:productID`. */
  readonly path: string;
  /** The class that declares its parameters. */
  readonly query: Type<object>;
  /**
   * The controller's method, to be called as Nest does, but without its guards, pipes and interceptors. If
   * there is a controller for each request, it is that of the request.
   */
  readonly handlerFor: (request?: object) => Promise<Call>;
}

type Call = (input: HandlerInput) => unknown;
type Handler = (...args: readonly unknown[]) => unknown;

/** Every `@Get()` route of an application, in the order of its modules. */
export function endpointsOf(application: INestApplicationContext): Endpoint[] {
  return endpointsIn(application.get(ModulesContainer));
}

/** Every `@Get()` route of some modules, in their order. */
export function endpointsIn(modules: ModulesContainer): Endpoint[] {
  const controllers = [...modules.values()].flatMap((module) =>
    [...module.controllers.values()].map((wrapper) => ({ module, wrapper })),
  );
  return controllers.flatMap(({ module, wrapper }) => {
    const controller = wrapper.metatype as Type<object>;
    const methods = Object.getOwnPropertyDescriptors(controller.prototype as object);
    return Object.entries(methods).flatMap(([method, { value }]) => {
      const handler = value as Handler | undefined;
      if (!handler || Reflect.getMetadata(METHOD_METADATA, handler) !== RequestMethod.GET)
        return [];
      const path = joined(
        Reflect.getMetadata(PATH_METADATA, controller),
        Reflect.getMetadata(PATH_METADATA, handler),
      );
      const query = queryClassOf(controller, method);
      const declared = argumentsOf(controller, method);
      const handlerFor = async (request?: object): Promise<Call> => {
        const instance = wrapper.isDependencyTreeStatic()
          ? wrapper.instance
          : await instanceFor(moduleRefOf(module), controller, request);
        return (input) => handler.apply(instance, handlerValues(declared, input));
      };
      return { controller, method, path, query, handlerFor };
    });
  });
}

/** Gives the providers of a module. */
export function moduleRefOf({ providers }: Pick<Module, 'providers'>): ModuleRef {
  return providers.get(ModuleRef)?.instance as ModuleRef;
}

/** An instance of a class of a module for a request, whatever the scope of the class. */
export function instanceFor<T>(
  moduleRef: ModuleRef,
  type: Type<T>,
  request: object = {},
): Promise<T> {
  const contextId = ContextIdFactory.getByRequest(request);
  moduleRef.registerRequestByContextId(request, contextId);
  return moduleRef.resolve(type, contextId, { strict: true });
}

/** The names of the parameters in the path of an endpoint. */
export function pathParametersOf({ path }: Pick<Endpoint, 'path'>): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
}

function joined(...parts: unknown[]): string {
  const names = parts.flatMap((part) => String(part).split('/')).filter((name) => name !== '');
  return `/${names.join('/')}`;
}
