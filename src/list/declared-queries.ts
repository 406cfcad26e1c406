import type { Type } from '@nestjs/common';
import {
  HTTP_CODE_METADATA,
  REDIRECT_METADATA,
  RENDER_METADATA,
  RESPONSE_PASSTHROUGH_METADATA,
  SSE_METADATA,
} from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/internal';
import type { Endpoint } from '../http/endpoints.js';
import { argumentsOf, type HandlerArgument } from '../http/handler-arguments.js';
import { CredentialsQueryDto } from '../http/parameters/credentials-query.dto.js';
import { parametersOf } from '../http/parameters/declared-parameters.js';
import { ObjectQueryDto } from './list-query.dto.js';
import { entityOf } from './query-of.js';

/** The decorators of a handler whose response Nest sends without the envelope, or with another status. */
const OWN_RESPONSES = {
  Redirect: REDIRECT_METADATA,
  Sse: SSE_METADATA,
  Render: RENDER_METADATA,
  HttpCode: HTTP_CODE_METADATA,
};

/** What is wrong with an endpoint's handler, its arguments and its query class, as lines. */
export function queryProblems({ controller, method }: Endpoint): string[] {
  const handler = `${controller.name}.${method}`;
  const declaring = (controller.prototype as Record<string, () => unknown>)[method] ?? controller;
  const declared = argumentsOf(controller, method);
  const [query, ...others] = declared.filter(({ kind }) => kind === RouteParamtypes.QUERY);
  const answersItself =
    declared.some(
      ({ kind }) => kind === RouteParamtypes.RESPONSE || kind === RouteParamtypes.NEXT,
    ) && !Reflect.hasMetadata(RESPONSE_PASSTHROUGH_METADATA, controller, method);
  return [
    ...Object.entries(OWN_RESPONSES)
      .filter(([, metadata]) => Reflect.hasMetadata(metadata, declaring))
      .map(
        ([name]) => `${handler} has @${name}(): a handler returns its answer, which has status 200`,
      ),
    ...(answersItself ? [`${handler} takes @Res() or @Next(): a handler returns its answer`] : []),
    ...(others.length > 0 ? [`${handler} has more than one @Query()`] : []),
    ...(query ? argumentProblems(handler, query) : []),
  ];
}

function argumentProblems(handler: string, { name, type }: HandlerArgument): string[] {
  if (name !== undefined) {
    return [`${handler} has @Query('${name}'): declare ${name} in a query class, for @Query()`];
  }
  // What the compiler has in place of a class that is imported as a type.
  if (typeof type !== 'function' || type === Object || type === Function) {
    return [
      `The class of @Query() of ${handler} is not there at run time: import it without "type"`,
    ];
  }
  const query = type as Type<object>;
  if (query !== CredentialsQueryDto && !(query.prototype instanceof CredentialsQueryDto)) {
    return [`${query.name} of ${handler} extends neither ListQueryDto nor ObjectQueryDto`];
  }
  const parameters = parametersOf(query);
  return [
    ...(query.prototype instanceof ObjectQueryDto && !entityOf(query)
      ? [`${query.name} has no @QueryOf`]
      : []),
    // Every property of a class is one of its objects, if it is not declared with "declare".
    ...Object.keys(new query())
      .filter((property) => !parameters.has(property))
      .map(
        (property) =>
          `${query.name}.${property} has no decorator of a parameter, such as @TextParam`,
      ),
  ];
}
