import type { ServerResponse } from 'node:http';
import type { CatalogueRequest } from '../catalogue-request.js';
import { sentErrorOf } from '../envelope.js';

/**
 * A completed request, for the log and the metrics. Only `id` may contain text from the client, and
 * it has a restricted form.
 */
export interface Observation {
  /** The request id, as in `X-Request-Id`. */
  readonly id?: string;
  /** Absent for input that is not a valid request. */
  readonly method?: string;
  /** The path pattern, such as `/products/:productID`; absent if no route matched. */
  readonly route?: string;
  /** The `clientID`; absent before its credentials are verified. */
  readonly client?: string;
  /** The client's address, if its credentials were rejected. */
  readonly address?: string;
  /** The HTTP status; 0 if the client disconnected before the response. */
  readonly status: number;
  /** `0` for a success. */
  readonly errcode: number;
  readonly milliseconds: number;
  /** The number of objects in the response. */
  readonly rows: number;
}

/**
 * Describes a completed request.
 *
 * @param began `performance.now()` when the request arrived
 */
export function observationOf(
  request: CatalogueRequest,
  response: ServerResponse,
  began: number,
): Observation {
  const { id, method, client, failedLoginAddress, rows = 0 } = request;
  const { path } = (request.route ?? {}) as { path?: string };
  return {
    id,
    method,
    route: path,
    client: client?.clientID,
    address: failedLoginAddress,
    status: response.headersSent ? response.statusCode : 0,
    errcode: sentErrorOf(response)?.errcode ?? 0,
    milliseconds: performance.now() - began,
    rows,
  };
}
