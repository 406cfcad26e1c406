import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { isObservable, lastValueFrom } from 'rxjs';
import { type Endpoint, instanceFor } from '../../http/endpoints.js';
import { declaredBy } from '../../private-api/decorators.js';

/**
 * Whether the guards of a list, those of its controller and of its handler, let a request pass. They are those of the module
 * of the controller, and get its class and its handler.
 */
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
