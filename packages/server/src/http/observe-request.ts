import type { ServerResponse } from 'node:http';
import type { CatalogueRequest } from './catalogue-request.js';
import type { Observation, SlowRequest } from './observation.js';
import { isCredential } from './parameters/credentials-query.dto.js';
import type { SentQuery } from './parameters/parameters.pipe.js';

/**
 * Describes a completed request.
 *
 * @param arrived `performance.now()` when the request arrived
 * @param slowAfter milliseconds after which a request is slow
 */
export function observationOf(
  request: CatalogueRequest,
  response: ServerResponse,
  arrived: number,
  slowAfter = Infinity,
): Observation {
  const {
    id,
    method,
    client,
    failedLoginAddress,
    rows = 0,
    trace,
    plan,
    waited,
    cutOffAs,
  } = request;
  const { path } = (request.route ?? {}) as { path?: string };
  const statusSent = response.headersSent ? response.statusCode : 0;
  const ended = performance.now();
  const began = waited ? arrived + (waited.ended ?? ended) - waited.began : arrived;
  const taken = (request.answeredAt ?? ended) - began;
  return {
    id,
    traceId: trace?.traceId,
    spanId: trace?.spanId,
    method,
    route: path,
    client: client?.clientID,
    address: failedLoginAddress,
    status: response.writableFinished ? response.statusCode : (cutOffAs ?? statusSent),
    errcode: request.errcode ?? 0,
    milliseconds: ended - began,
    rows,
    plan,
    slow: taken < slowAfter ? undefined : slowRequest(request, taken),
  };
}

/** `undefined` if the names of its parameters were not checked: they may be any text of the client. */
function slowRequest(request: CatalogueRequest, milliseconds: number): SlowRequest | undefined {
  const { parameters } = request.query as unknown as Partial<SentQuery>;
  if (!parameters || parameters !== request.parameters) return undefined;
  const names = parameters.map(({ name }) => name);
  return { milliseconds, parameters: names.filter((name) => !isCredential(name)) };
}
