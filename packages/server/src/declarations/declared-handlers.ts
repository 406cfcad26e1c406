import { RequestMethod, type Type } from '@nestjs/common';
import { type ApplicationConfig, MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { ErrorFilter } from '../http/error.filter.js';
import { ParametersPipe } from '../http/parameters/validation.js';
import {
  argumentsOf,
  declaredBy,
  isFileInterceptor,
  pathOfModule,
} from '../private-api/decorators.js';
import { unreadMetadata } from '../resource/unread-declarations.js';
import { ANY_HOST, NO_BODY } from './declared-queries.js';

const ENVELOPE = 'a handler returns its answer, which has status 200';
const ERRORS =
  'throw an HttpException, or let an interceptor turn an error into one with catchError';
const FIELDS = 'hide a column with select: false';
const CACHE = 'the service caches pages itself, as far as PAGE_CACHE_MB says';
const RATE = 'RATE_LIMIT_PER_MINUTE limits the requests of each client';

/** What a decorator of Nest sets on a controller or a handler, and the service refuses. */
const REFUSED = {
  host: ['a host', ANY_HOST],
  version: ['a version', 'give another version a path of its own'],
  redirect: ['@Redirect()', ENVELOPE],
  sse: ['@Sse()', ENVELOPE],
  render: ['@Render()', ENVELOPE],
  httpCode: ['@HttpCode()', ENVELOPE],
  filters: ['@UseFilters()', ERRORS],
} as const;

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
    if (pathOfModule(modules, module.metatype) !== undefined)
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
    if (!handler) continue;
    const request = declaredBy(handler, 'method') as RequestMethod | undefined;
    if (request === undefined) continue;
    const name = `${controller.name}.${method}`;
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
  for (const [kind, [what, instead]] of Object.entries(REFUSED))
    if (declaredBy(target, kind as keyof typeof REFUSED) !== undefined)
      yield `${name} has ${what}: ${instead}`;
  yield* unreadMetadata(name, target);
  const headers = (declaredBy(target, 'headers') ?? []) as { name: string }[];
  for (const header of headers)
    if (OWN_HEADERS.includes(header.name.toLowerCase()))
      yield `${name} has @Header('${header.name}'): the service says itself how it sends a response`;
  for (const kind of ['interceptors', 'guards', 'pipes'] as const)
    yield* enhancerProblems(name, (declaredBy(target, kind) ?? []) as unknown[]);
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
