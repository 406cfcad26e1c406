import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  mixin,
  type Type,
} from '@nestjs/common';
import { GUARDS_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { isObservable, lastValueFrom } from 'rxjs';
import { type Endpoint, endpointsIn, instanceFor } from '../../http/endpoints.js';
import { listQueryOf } from './query-of.js';

/** The handler of a resource's list, as its guards see it. */
interface ListHandler extends Pick<Endpoint, 'controller' | 'moduleRef'> {
  readonly handler: ReturnType<ExecutionContext['getHandler']>;
  readonly guards: readonly (Type<CanActivate> | CanActivate)[];
}

/** What every `listGuard` is. */
abstract class GuardOfList implements CanActivate {
  abstract canActivate(context: ExecutionContext): Promise<boolean>;
}

/** Whether a controller comes with a resource: that of its facets, or of its deletions. */
export function comesWithResource(controller: Type<object>): boolean {
  const guards = (Reflect.getMetadata(GUARDS_METADATA, controller) ?? []) as Partial<Type>[];
  return guards.some(({ prototype }) => prototype instanceof GuardOfList);
}

/**
 * A guard for the endpoints that come with a resource: the guards of its list, those of the controller and
 * those of the handler. They are those of the module of the controller, and get its class and its handler.
 */
export function listGuard(entity: Type): Type<CanActivate> {
  @Injectable()
  class ListGuard extends GuardOfList {
    private list: ListHandler | null | undefined;

    constructor(private readonly modules: ModulesContainer) {
      super();
    }

    async canActivate(context: ExecutionContext): Promise<boolean> {
      if (this.list === undefined) this.list = listHandlerOf(entity, this.modules);
      if (!this.list) return true;
      const { controller, handler, guards, moduleRef } = this.list;
      const ofList = Object.create(context, {
        getClass: { value: () => controller },
        getHandler: { value: () => handler },
      }) as ExecutionContext;
      for (const guard of guards) {
        const instance =
          typeof guard === 'function'
            ? await instanceFor(moduleRef, guard, context.switchToHttp().getRequest<object>())
            : guard;
        const result = await instance.canActivate(ofList);
        if (!(isObservable(result) ? await lastValueFrom(result) : result)) return false;
      }
      return true;
    }
  }
  return mixin(ListGuard);
}

/** `null` for a resource without a list. */
function listHandlerOf(entity: Type, modules: ModulesContainer): ListHandler | null {
  const query = listQueryOf(entity);
  const endpoint = endpointsIn(modules).find((each) => query && each.query === query);
  if (!endpoint) return null;
  const { controller, method, moduleRef } = endpoint;
  const handler = Reflect.get(controller.prototype as object, method) as ListHandler['handler'];
  const guards = [controller, handler].flatMap(
    (target) => (Reflect.getMetadata(GUARDS_METADATA, target) ?? []) as ListHandler['guards'],
  );
  return { controller, handler, guards, moduleRef };
}
