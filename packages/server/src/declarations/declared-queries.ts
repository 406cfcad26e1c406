import type { Type } from '@nestjs/common';
import {
  type Endpoint,
  paramsIn,
  pathClassOf,
  pathParametersOf,
  returnedBy,
} from '../http/endpoints.js';
import { rulesOf } from '../http/parameters/validation.js';
import { classShape } from '../resource/json-shape.js';
import {
  columnsRead,
  CredentialsQueryDto,
  entityOf,
  parametersOf,
  schemaOf,
  settingsFor,
} from '../http/parameters/declared-parameters.js';
import { ChangesController } from '../list/changes/changes.controller.js';
import { ListQueryDto, ObjectQueryDto } from '../list/query/list-query.dto.js';
import {
  argumentsOf,
  declaredBy,
  type HandlerArgument,
  passesThrough,
  RouteParamtypes,
} from '../private-api/decorators.js';
import { transformingDecorators, unreadMetadata } from '../resource/unread-declarations.js';

/** The paths that the service answers itself, also those below them. */
const OWN_PATHS = [
  ...['/changes', '/docs', '/facets', '/health'],
  ...['/llms-full.txt', '/llms.txt', '/metrics'],
  '/openapi.json',
];

export const NO_BODY = 'a request has neither a body nor a session';
export const ANY_HOST = 'the service has the same paths for every host';

/** The decorators of arguments that no request has, and why. */
const ABSENT: Readonly<
  Partial<Record<RouteParamtypes, readonly [decorator: string, why: string]>>
> = {
  [RouteParamtypes.BODY]: ['Body', NO_BODY],
  [RouteParamtypes.RAW_BODY]: ['RawBody', NO_BODY],
  [RouteParamtypes.FILE]: ['UploadedFile', NO_BODY],
  [RouteParamtypes.FILES]: ['UploadedFiles', NO_BODY],
  [RouteParamtypes.SESSION]: ['Session', NO_BODY],
  [RouteParamtypes.HOST]: ['HostParam', ANY_HOST],
};

/** What is wrong with an endpoint's path, its handler, its arguments and its query class, as lines. */
export function* queryProblems(endpoint: Endpoint): Generator<string> {
  const { controller, method, name: handler } = endpoint;
  const declared = argumentsOf(controller, method);
  const [query, ...others] = declared.filter(({ kind }) => kind === RouteParamtypes.QUERY);
  yield* routeProblems(endpoint);
  if (
    declared.some(
      ({ kind }) => kind === RouteParamtypes.RESPONSE || kind === RouteParamtypes.NEXT,
    ) &&
    !passesThrough(controller, method)
  )
    yield `${handler} takes @Res() or @Next(): a handler returns its answer, which has status 200`;
  const parameters = pathParametersOf(endpoint);
  for (const { kind, name } of declared) {
    const absent = kind !== undefined && ABSENT[kind];
    if (absent) yield `${handler} takes @${absent[0]}(): ${absent[1]}`;
    if (kind === RouteParamtypes.PARAM && name !== undefined && !parameters.includes(name))
      yield `${handler} takes @Param('${name}'), which its path ${endpoint.path} does not have`;
  }
  if (others.length > 0) yield `${handler} has more than one @Query()`;
  if (query) yield* argumentProblems(handler, query);
  const path = pathClassOf(endpoint);
  if (path) yield* pathProblems(handler, path, endpoint.path);
  yield* returnProblems(endpoint);
}

/** What is wrong with a path. The document says of each parameter only its name. */
function* routeProblems(endpoint: Endpoint): Generator<string> {
  const { controller, method, path, name: handler } = endpoint;
  const declaring = (controller.prototype as Record<string, () => unknown>)[method] ?? controller;
  const [, first = ''] = path.split('/');
  if (OWN_PATHS.includes(`/${first}`) && controller !== ChangesController)
    yield `${handler} at ${path} has a path of the service: ${OWN_PATHS.join(', ')} are there`;
  if ([controller, declaring].some((each) => Array.isArray(declaredBy(each, 'path'))))
    yield `${handler} has several paths: a handler has one`;
  const names = pathParametersOf(endpoint);
  // The characters of a path that Express takes as they are, without parameters.
  if (
    !/^[\w\-.~%&',;=@/]*$/.test(path.replace(/:[A-Za-z_]\w*/g, '')) ||
    new Set(names).size < names.length
  )
    yield `${handler} at ${path} has a wildcard or the like: a path has fixed parts and parameters such as :id, each once`;
}

function* returnProblems(endpoint: Endpoint): Generator<string> {
  const { name: handler, query } = endpoint;
  const returned = returnedBy(endpoint);
  if (!returned) return;
  if (query.prototype instanceof ObjectQueryDto)
    yield `${handler} has @Returns beside the query class ${query.name}: its objects are those of the entity in @QueryOf`;
  const type: unknown = returned.type;
  // A function that is no class has no prototype.
  if (typeof type !== 'function' || type.prototype === undefined) {
    yield `${handler} has @Returns without a class: give it that of one object, also for a list`;
    return;
  }
  for (const problem of classShape(returned.type).problems)
    yield `${handler} returns a class: ${problem}`;
}

/** Values are checked by the decorators of their properties. One without a decorator would be refused in every request. */
function* pathProblems(handler: string, path: Type<object>, pattern: string): Generator<string> {
  yield* unreadMetadata(path.name, path, path.prototype as object);
  const checked = new Set(rulesOf(path).map(({ propertyName }) => propertyName));
  for (const [, name = ''] of pattern.matchAll(/:(\w+)/g))
    if (!checked.has(name))
      yield `${handler} takes ${path.name}, whose ${name} needs a decorator of class-validator, such as @IsString()`;
}

function* argumentProblems(handler: string, { name, type }: HandlerArgument): Generator<string> {
  if (name !== undefined) {
    yield `${handler} has @Query('${name}'): declare ${name} in a query class, for @Query()`;
    return;
  }
  // What the compiler has in place of a class that is imported as a type.
  if (typeof type !== 'function' || type === Object || type === Function) {
    yield `The class of @Query() of ${handler} is not there at run time: import it without "type"`;
    return;
  }
  const query = type as Type<object>;
  if (query !== CredentialsQueryDto && !(query.prototype instanceof CredentialsQueryDto))
    yield `${query.name} of ${handler} extends neither ListQueryDto, ObjectQueryDto nor CredentialsQueryDto`;
  else yield* classProblems(query);
}

function* classProblems(query: Type<object>): Generator<string> {
  yield* unreadMetadata(query.name, query, query.prototype as object);
  const parameters = parametersOf(query);
  const base = query.prototype instanceof ListQueryDto ? ListQueryDto : CredentialsQueryDto;
  for (const [parameter, declared] of parametersOf(base))
    if (parameters.get(parameter) !== declared)
      yield `${query.name}.${parameter} is a parameter of ${base.name}, which no other class declares`;
  for (const [name, declared] of parameters) {
    try {
      schemaOf(declared, settingsFor({ maxLimit: 0 }, undefined));
      columnsRead(query, name);
    } catch (error) {
      // The schema of a column that refers to nothing cannot be made.
      yield (error as Error).message;
    }
  }
  for (const what of transformingDecorators(query, false))
    yield `${what}, which no list applies: convert the value in the condition of the filter`;
  if (query.prototype instanceof ObjectQueryDto && !entityOf(query))
    yield `${query.name} has no @QueryOf`;
  // Every property of a class is one of its objects, if it is not declared with "declare".
  const properties = Object.entries(new query());
  for (const [property] of properties)
    if (!parameters.has(property))
      yield `${query.name}.${property} has no decorator of a parameter, such as @TextParam`;
  for (const [property, value] of properties)
    if (value !== undefined && parameters.has(property)) {
      // A handler that sets `limit` would cut whole lists, too.
      const remedy = parametersOf(base).has(property) ? '' : ': let the handler set it';
      yield `${query.name}.${property} has a default value, which would apply as if every request had sent it${remedy}`;
    }
}

/**
 * Handlers that no request reaches, since another one before them has their path, as lines.
 *
 * @param endpoints in the order in which Nest registers them
 */
export function* unreachedHandlers(endpoints: readonly Endpoint[]): Generator<string> {
  for (const [at, endpoint] of endpoints.entries()) {
    const { name, path } = endpoint;
    const before = endpoints
      .slice(0, at)
      .find((each) => paramsIn(path, each) && !isSame(each, endpoint));
    if (before)
      yield `${name} at ${path} is never called: ${before.name} comes before it, at ${before.path}`;
  }
}

/** Whether two handlers are the same: a module may be imported twice. */
function isSame(one: Endpoint, other: Endpoint): boolean {
  return one.name === other.name && one.controller === other.controller;
}
