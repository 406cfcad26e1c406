import {
  type ExecutionContext,
  type INestApplicationContext,
  RequestMethod,
  type Type,
} from '@nestjs/common';
import { ContextIdFactory, ModuleRef, ModulesContainer } from '@nestjs/core';
import {
  argumentsOf,
  declaredBy,
  type HandlerArgument,
  RouteParamtypes,
} from '../private-api/decorators.js';
import type { CatalogueRequest } from './request.js';
import { CredentialsQueryDto } from './parameters/declared-parameters.js';

/** A GET route of a controller. */
export interface Endpoint {
  readonly controller: Type<object>;
  /** The name of the controller's method. */
  readonly method: string;
  /** Such as `ProductsController.list`. */
  readonly name: string;
  /** The path pattern of Express, such as `/products/:productID`. */
  readonly path: string;
  /** The class that declares its parameters. */
  readonly query: Type<object>;
  /**
   * The controller's method, to be called as Nest does, but without guards, pipes and interceptors.
   *
   * @param request for which it is; absent: none
   */
  readonly handlerFor: (request?: object) => Promise<(input: HandlerInput) => unknown>;
  /** Gives the providers of the module of the controller. */
  readonly moduleRef: ModuleRef;
}

type Handler = Pick<Endpoint, 'controller' | 'method'>;

/** What a controller's method is called with. */
interface HandlerInput {
  readonly query: object;
  /** The parameters in the path. */
  readonly params?: Readonly<Record<string, string>>;
}

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
    const moduleRef = module.providers.get(ModuleRef)?.instance as ModuleRef;
    const methods = Object.getOwnPropertyDescriptors(controller.prototype as object);
    return Object.entries(methods).flatMap(([method, { value }]) => {
      const handler = value as ((...args: readonly unknown[]) => unknown) | undefined;
      if (!handler || declaredBy(handler, 'method') !== RequestMethod.GET) return [];
      const path = joined(declaredBy(controller, 'path'), declaredBy(handler, 'path'));
      const query = queryClassOf(controller, method);
      const declared = argumentsOf(controller, method);
      const handlerFor: Endpoint['handlerFor'] = async (request) => {
        const instance = wrapper.isDependencyTreeStatic()
          ? wrapper.instance
          : await instanceFor(moduleRef, controller, request);
        return (input) => handler.apply(instance, valuesOf(declared, input));
      };
      const name = `${controller.name}.${method}`;
      return { controller, method, name, path, query, handlerFor, moduleRef };
    });
  });
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

/** The parameters in a path, as it has them; `undefined` if it is not that of the endpoint. */
export function paramsIn(
  path: string,
  { path: pattern }: Pick<Endpoint, 'path'>,
): Record<string, string> | undefined {
  const [names, parts] = [pattern.split('/'), path.split('/')];
  if (names.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, name] of names.entries()) {
    const part = parts[at] ?? '';
    const [, parameter] = /^:(\w+)$/.exec(name) ?? [];
    if (parameter !== undefined) params[parameter] = part;
    else if (name !== part) return undefined;
  }
  return params;
}

/** The class of a handler's `@Param()` without a name, which has a property for each parameter in the path. */
export function pathClassOf({ controller, method }: Handler): Type<object> | undefined {
  const whole = argumentsOf(controller, method).find(
    ({ kind, name }) => kind === RouteParamtypes.PARAM && name === undefined,
  );
  return typeof whole?.type === 'function' && whole.type !== Object
    ? (whole.type as Type<object>)
    : undefined;
}

const RETURNED = Symbol('returned');

interface Returned {
  readonly type: Type<object>;
}

/**
 * Declares the class of the objects that a custom handler returns, for the OpenAPI document. Each of its
 * properties has a type by class-validator, and may have a `@Meaning`.
 */
export function Returns(type: Type<object>): MethodDecorator {
  return Reflect.metadata(RETURNED, { type });
}

/** What `@Returns` gives a handler; `undefined` without. Before the start is checked, `type` may be anything. */
export function returnedBy({ controller, method }: Handler): Returned | undefined {
  return Reflect.getMetadata(RETURNED, controller.prototype as object, method) as
    Returned | undefined;
}

function joined(...parts: unknown[]): string {
  const names = parts.flatMap((part) => String(part).split('/')).filter((name) => name !== '');
  return `/${names.join('/')}`;
}

/** The query classes of controllers by method. Every request asks for one. */
const QUERY_CLASSES = new WeakMap<Type<object>, Map<string, Type<object>>>();

/** The class of a method's `@Query()` argument, which declares its parameters; without one, the credentials alone. */
export function queryClassOf(controller: Type<object>, method: string): Type<object> {
  const classes = QUERY_CLASSES.get(controller) ?? new Map<string, Type<object>>();
  QUERY_CLASSES.set(controller, classes);
  let found = classes.get(method);
  if (!found) {
    const declared = argumentsOf(controller, method);
    const query = declared.find(({ kind }) => kind === RouteParamtypes.QUERY);
    found = (query?.type as Type<object> | undefined) ?? CredentialsQueryDto;
    classes.set(method, found);
  }
  return found;
}

/** The class that declares the parameters of a request: that of its path, or of its handler's `@Query()`. */
export function queryClassFor(context: ExecutionContext): Type<object> {
  const { queryClass } = context.switchToHttp().getRequest<CatalogueRequest>();
  return queryClass ?? queryClassOf(context.getClass(), context.getHandler().name);
}

/** The arguments as Nest passes them, except for those that neither query nor path give. */
function valuesOf(
  declared: readonly HandlerArgument[],
  { query, params = {} }: HandlerInput,
): unknown[] {
  const values: unknown[] = [];
  for (const { index, kind, name } of declared) {
    if (kind === RouteParamtypes.QUERY) values[index] = query;
    if (kind === RouteParamtypes.PARAM) values[index] = name === undefined ? params : params[name];
  }
  return values;
}
