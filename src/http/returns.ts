import type { Type } from '@nestjs/common';
import type { Endpoint } from './endpoints.js';

const RETURNED = Symbol('returned');

/**
 * Declares the class of the objects that a handler of one's own returns, for the OpenAPI document. Each of its
 * properties has a type by class-validator, and may have a `@Meaning`.
 */
export function Returns(type: Type<object>): MethodDecorator {
  return Reflect.metadata(RETURNED, { type });
}

/** What `@Returns` gives a handler; `undefined` without. Before the start is checked, `type` may be anything. */
export function returnedBy({
  controller,
  method,
}: Pick<Endpoint, 'controller' | 'method'>): { readonly type: Type<object> } | undefined {
  return Reflect.getMetadata(RETURNED, controller.prototype as object, method) as
    { readonly type: Type<object> } | undefined;
}
