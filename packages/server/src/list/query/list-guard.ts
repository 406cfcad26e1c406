import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  mixin,
  type Type,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { isObservable, lastValueFrom } from 'rxjs';
import { type Endpoint, endpointsIn, instanceFor } from '../../http/endpoints.js';
import { declaredBy } from '../../private-api/decorators.js';
import { listQueryOf } from './query-of.js';

/** What every `listGuard` is. */
abstract class GuardOfList implements CanActivate {
  abstract canActivate(context: ExecutionContext): Promise<boolean>;
}

/** Whether a controller comes with a resource: that of its deletions. */
export function comesWithResource(controller: Type<object>): boolean {
  return guardsOf(controller).some(
    (guard) => (guard as Partial<Type>).prototype instanceof GuardOfList,
  );
}

/**
 * A guard for the endpoints that come with a resource: the guards of its list, those of the controller and
 * those of the handler. They are those of the module of the controller, and get its class and its handler.
 */
export function listGuard(entity: Type): Type<CanActivate> {
  @Injectable()
  class ListGuard extends GuardOfList {
    /** `null` for a resource without a list. */
    private list?: Endpoint | null;

    constructor(private readonly modules: ModulesContainer) {
      super();
    }

    async canActivate(context: ExecutionContext): Promise<boolean> {
      if (this.list === undefined) {
        const query = listQueryOf(entity);
        this.list = endpointsIn(this.modules).find((each) => each.query === query) ?? null;
      }
      return !this.list || passesGuards(this.list, context);
    }
  }
  return mixin(ListGuard);
}

/** Whether the guards of a list, those of its controller and of its handler, let a request pass. */
export async function passesGuards(
  { controller, method, moduleRef }: Endpoint,
  context: ExecutionContext,
): Promise<boolean> {
  const handler = Reflect.get(controller.prototype as object, method) as Handler;
  const ofList = Object.create(context, {
    getClass: { value: () => controller },
    getHandler: { value: () => handler },
  }) as ExecutionContext;
  for (const guard of [...guardsOf(controller), ...guardsOf(handler)]) {
    const instance =
      typeof guard === 'function'
        ? await instanceFor(moduleRef, guard, context.switchToHttp().getRequest<object>())
        : guard;
    const result = await instance.canActivate(ofList);
    if (!(isObservable(result) ? await lastValueFrom(result) : result)) return false;
  }
  return true;
}

type Handler = ReturnType<ExecutionContext['getHandler']>;

function guardsOf(target: Type<object> | Handler): (Type<CanActivate> | CanActivate)[] {
  return (declaredBy(target, 'guards') ?? []) as ReturnType<typeof guardsOf>;
}
