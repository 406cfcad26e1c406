import type { ServerResponse } from 'node:http';
import type { CatalogueRequest } from '../catalogue-request.js';
import { sentErrorOf } from '../envelope.js';

/** What is told of a request when it is over: nothing in it is as a client wrote it, but its id. */
export interface Observation {
  /** Names the request, as in `X-Request-Id`; none for what is no request. */
  readonly id?: string;
  readonly method?: string;
  /** The pattern of its path, such as `/products/:productID`; none where no route took it. */
  readonly route?: string;
  /** Who asked, once the credentials were checked. */
  readonly client?: string;
  /** Where it came from, if its credentials were refused. */
  readonly address?: string;
  /** Of HTTP; 0 where the client went away before its answer. */
  readonly status: number;
  /** `0` for a success. */
  readonly errcode: number;
  readonly milliseconds: number;
  /** Objects in the answer. */
  readonly rows: number;
}

/** What became of a request that began at some moment of the monotonic clock, once it is over. */
export function observationOf(
  request: CatalogueRequest,
  response: ServerResponse,
  began: number,
): Observation {
  const { id, method, client, refusedAddress, rows = 0 } = request;
  const { path } = (request.route ?? {}) as { path?: string };
  return {
    id,
    method,
    route: path,
    client: client?.clientID,
    address: refusedAddress,
    status: response.headersSent ? response.statusCode : 0,
    errcode: sentErrorOf(response)?.errcode ?? 0,
    milliseconds: performance.now() - began,
    rows,
  };
}
