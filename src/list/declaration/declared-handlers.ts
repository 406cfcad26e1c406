import { RequestMethod, type Type } from '@nestjs/common';
import { HOST_METADATA, METHOD_METADATA, VERSION_METADATA } from '@nestjs/common/constants.js';
import type { ModulesContainer } from '@nestjs/core';

/**
 * Handlers and controllers that Nest would serve and the service does not know, so that nothing would check or
 * document them; and what Nest would ignore. As lines.
 */
export function* handlerProblems(modules: ModulesContainer): Generator<string> {
  for (const module of modules.values())
    for (const { metatype } of module.controllers.values())
      yield* controllerProblems(metatype as Type<object>);
}

function* controllerProblems(controller: Type<object>): Generator<string> {
  if (Reflect.getMetadata(HOST_METADATA, controller) !== undefined)
    yield `${controller.name} has a host: the service has the same paths for every host`;
  yield* versionProblem(controller.name, controller);
  for (const { method, handler, declaring } of handlersOf(controller)) {
    const name = `${controller.name}.${method}`;
    const request = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod;
    if (request !== RequestMethod.GET)
      yield `${name} has @${decoratorOf(request)}(): resources are only read, with @Get()`;
    if (declaring !== controller)
      yield `${name} is inherited from ${declaring.name}: declare it in ${controller.name}, where it may call super.${method}()`;
    yield* versionProblem(name, handler);
  }
}

interface DeclaredHandler {
  readonly method: string;
  readonly handler: object;
  /** The class that has it: the controller, or one that it extends. */
  readonly declaring: Type<object>;
}

/** Every method that Nest calls for a request, also inherited ones. */
function handlersOf(controller: Type<object>): DeclaredHandler[] {
  const methods = new Map<string, DeclaredHandler>();
  let prototype = controller.prototype as object | null;
  while (prototype && prototype !== Object.prototype) {
    const declaring = prototype.constructor as Type<object>;
    for (const [method, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (typeof value !== 'function' || methods.has(method)) continue;
      methods.set(method, { method, handler: value as object, declaring });
    }
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return [...methods.values()].filter(({ handler }) =>
    Reflect.hasMetadata(METHOD_METADATA, handler),
  );
}

function* versionProblem(name: string, target: object): Generator<string> {
  if (Reflect.getMetadata(VERSION_METADATA, target) !== undefined)
    yield `${name} has a version, which no path contains: give it a path of its own`;
}

/** Such as `Post`, for `RequestMethod.POST`. */
function decoratorOf(method: RequestMethod): string {
  const name = RequestMethod[method];
  return name.charAt(0) + name.slice(1).toLowerCase();
}
