import type { Type } from '@nestjs/common';
import type { Endpoint } from './endpoints.js';

const RETURNED = Symbol('returned');

/**
 * Declares the class of the objects that a handler of one's own returns, for the OpenAPI document. Each of its
 * properties has a type by class-validator, and may have a `@Meaning`.
 */
export function Returns(type: Type<object>): MethodDecorator {
  return Reflect.metadata(RETURNED, type);
}

/** The class that `@Returns` gives a handler; `undefined` without. */
export function returnedClass({
  controller,
  method,
}: Pick<Endpoint, 'controller' | 'method'>): Type<object> | undefined {
  return Reflect.getMetadata(RETURNED, controller.prototype as object, method) as
    Type<object> | undefined;
}
