import { RequestMethod, type Type } from '@nestjs/common';
import {
  EXCEPTION_FILTERS_METADATA,
  GUARDS_METADATA,
  HEADERS_METADATA,
  HOST_METADATA,
  HTTP_CODE_METADATA,
  INTERCEPTORS_METADATA,
  METHOD_METADATA,
  PIPES_METADATA,
  REDIRECT_METADATA,
  RENDER_METADATA,
  SELF_DECLARED_DEPS_METADATA,
  SSE_METADATA,
  VERSION_METADATA,
} from '@nestjs/common/constants.js';
import { MODULE_PATH } from '@nestjs/common/internal';
import { type ApplicationConfig, MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { argumentsOf } from '../http/endpoints.js';
import { ErrorFilter } from '../http/error.filter.js';
import { ParametersPipe } from '../http/parameters/parameters.pipe.js';
import { unreadMetadata } from '../resource/unread-declarations.js';
import { ANY_HOST, NO_BODY } from './declared-queries.js';

const ENVELOPE = 'a handler returns its answer, which has status 200';
const ERRORS =
  'throw an HttpException, or let an interceptor turn an error into one with catchError';
const FIELDS = 'hide a column with select: false';
const CACHE = 'the service caches pages itself, as far as PAGE_CACHE_MB says';
const RATE = 'RATE_LIMIT_PER_MINUTE limits the requests of each client';

/** What a decorator of Nest sets on a controller or a handler, and the service refuses, by the key of the metadata. */
const REFUSED_METADATA: Readonly<Record<string, readonly [what: string, instead: string]>> = {
  [HOST_METADATA]: ['a host', ANY_HOST],
  [VERSION_METADATA]: ['a version', 'give another version a path of its own'],
  [REDIRECT_METADATA]: ['@Redirect()', ENVELOPE],
  [SSE_METADATA]: ['@Sse()', ENVELOPE],
  [RENDER_METADATA]: ['@Render()', ENVELOPE],
  [HTTP_CODE_METADATA]: ['@HttpCode()', ENVELOPE],
  [EXCEPTION_FILTERS_METADATA]: ['@UseFilters()', ERRORS],
};

/** The headers that say how a response is sent, in lower case. */
const OWN_HEADERS = ['content-type', 'content-length', 'content-encoding', 'transfer-encoding'];

/** The interceptors, guards and pipes that the service refuses, by the name of their class or of one that it extends. */
const REFUSED_CLASSES: Readonly<Record<string, string>> = {
  CacheInterceptor: CACHE,
  ClassSerializerInterceptor: FIELDS,
  StandardSchemaSerializerInterceptor: FIELDS,
  ThrottlerGuard: RATE,
  ValidationPipe: 'the service validates the arguments of every handler itself',
};

/**
 * What Nest would serve and the service does not know, so that nothing would check or document it; and what would
 * have no effect, or another one than with Nest alone. As lines.
 */
export function* handlerProblems(
  modules: ModulesContainer,
  config: ApplicationConfig,
): Generator<string> {
  yield* applicationProblems(config);
  for (const module of modules.values()) {
    // Set for one application, also on a module that several have.
    const path: unknown = Reflect.getMetadata(MODULE_PATH + modules.applicationId, module.metatype);
    if (path !== undefined)
      yield `${module.name} has a path of RouterModule: write it in @Controller()`;
    for (const { metatype } of module.controllers.values())
      yield* controllerProblems(metatype as Type<object>);
  }
}

/** What `src/application.ts` sets for all handlers, or a module by `APP_PIPE` and the like. */
function* applicationProblems(config: ApplicationConfig): Generator<string> {
  const name = 'The application';
  if (config.getGlobalPrefix() !== '')
    yield `${name} has a global prefix: let a proxy remove it from the path`;
  if (config.getVersioning())
    yield `${name} has versioning: give another version a path of its own`;
  const ofRequests = [
    config.getGlobalRequestPipes(),
    config.getGlobalRequestInterceptors(),
    config.getGlobalRequestGuards(),
  ].flat();
  yield* enhancerProblems(name, [
    ...config.getGlobalPipes(),
    ...config.getGlobalInterceptors(),
    ...config.getGlobalGuards(),
    ...ofRequests.map(({ metatype }) => metatype),
  ]);
  const filters = [
    ...config.getGlobalFilters().map((filter) => classOf(filter)),
    ...config.getGlobalRequestFilters().map(({ metatype }) => classOf(metatype)),
  ];
  for (const filter of filters)
    if (filter !== ErrorFilter) yield `${name} has the filter ${filter.name}: ${ERRORS}`;
}

function* controllerProblems(controller: Type<object>): Generator<string> {
  yield* targetProblems(controller.name, controller);
  const prototype = controller.prototype as Readonly<Record<string, object>>;
  for (const method of new MetadataScanner().getAllMethodNames(prototype)) {
    const handler = prototype[method];
    if (!handler || !Reflect.hasMetadata(METHOD_METADATA, handler)) continue;
    const name = `${controller.name}.${method}`;
    const request = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod;
    const declaring = withAncestors(controller).find((each) =>
      Object.hasOwn(each.prototype as object, method),
    );
    if (request !== RequestMethod.GET)
      yield `${name} has @${decoratorOf(request)}(): resources are only read, with @Get()`;
    if (declaring && declaring !== controller)
      yield `${name} is inherited from ${declaring.name}: declare it in ${controller.name}, where it may call super.${method}()`;
    yield* targetProblems(name, handler);
    yield* enhancerProblems(
      name,
      argumentsOf(controller, method).flatMap(({ pipes }) => pipes),
    );
  }
}

/** What decorators have set on a controller or a handler. */
function* targetProblems(name: string, target: object): Generator<string> {
  // Some decorators set all that they could set.
  for (const [key, [what, instead]] of Object.entries(REFUSED_METADATA))
    if (Reflect.getMetadata(key, target) !== undefined) yield `${name} has ${what}: ${instead}`;
  yield* unreadMetadata(name, target);
  const headers = (Reflect.getMetadata(HEADERS_METADATA, target) ?? []) as { name: string }[];
  for (const header of headers)
    if (OWN_HEADERS.includes(header.name.toLowerCase()))
      yield `${name} has @Header('${header.name}'): the service says itself how it sends a response`;
  for (const key of [INTERCEPTORS_METADATA, GUARDS_METADATA, PIPES_METADATA])
    yield* enhancerProblems(name, (Reflect.getMetadata(key, target) ?? []) as unknown[]);
}

/** @param enhancers interceptors, guards and pipes: classes or instances */
function* enhancerProblems(name: string, enhancers: readonly unknown[]): Generator<string> {
  for (const enhancer of enhancers) {
    const classes = withAncestors(classOf(enhancer));
    const found = classes.find((each) => each.name in REFUSED_CLASSES);
    if (classes.some(isFileInterceptor))
      yield `${name} has FileInterceptor or the like: ${NO_BODY}`;
    if (found) yield `${name} has ${found.name}: ${REFUSED_CLASSES[found.name] ?? ''}`;
  }
}

/** `FileInterceptor` and its siblings make classes with random names, into which Nest injects options of multer. */
function isFileInterceptor(type: Type<object>): boolean {
  const injected = (Reflect.getOwnMetadata(SELF_DECLARED_DEPS_METADATA, type) ?? []) as {
    param: unknown;
  }[];
  return injected.some(({ param }) => param === 'MULTER_MODULE_OPTIONS');
}

function classOf(enhancer: unknown): Type<object> {
  return (
    typeof enhancer === 'function' ? enhancer : (enhancer as object).constructor
  ) as Type<object>;
}

/** A class and those that it extends. None of the service's own pipe, which is a `ValidationPipe`. */
function withAncestors(type: Type<object> | null): Type<object>[] {
  if (type === null || type === ParametersPipe) return [];
  return [type, ...withAncestors(Object.getPrototypeOf(type) as Type<object> | null)];
}

/** Such as `Post`, for `RequestMethod.POST`. */
function decoratorOf(method: RequestMethod): string {
  const name = RequestMethod[method];
  return name.charAt(0) + name.slice(1).toLowerCase();
}
