import { RequestMethod, type Type } from '@nestjs/common';
import { HOST_METADATA, METHOD_METADATA, VERSION_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { swaggerProblems } from '../../resource/swagger-decorators.js';

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
  yield* swaggerProblems(controller.name, controller);
  const prototype = controller.prototype as Readonly<Record<string, object>>;
  for (const method of new MetadataScanner().getAllMethodNames(prototype)) {
    const handler = prototype[method];
    if (!handler || !Reflect.hasMetadata(METHOD_METADATA, handler)) continue;
    const name = `${controller.name}.${method}`;
    const request = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod;
    const declaring = declaringClass(controller, method);
    if (request !== RequestMethod.GET)
      yield `${name} has @${decoratorOf(request)}(): resources are only read, with @Get()`;
    if (declaring !== controller)
      yield `${name} is inherited from ${declaring.name}: declare it in ${controller.name}, where it may call super.${method}()`;
    yield* versionProblem(name, handler);
    yield* swaggerProblems(name, handler);
  }
}

/** The class that has a method: a controller, or one that it extends. */
function declaringClass(controller: Type<object>, method: string): Type<object> {
  return Object.hasOwn(controller.prototype as object, method)
    ? controller
    : declaringClass(Object.getPrototypeOf(controller) as Type<object>, method);
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
