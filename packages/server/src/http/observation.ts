import type { ServerResponse } from 'node:http';
import type { CatalogueRequest } from './request.js';
import { isCredential } from './parameters/declared-parameters.js';
import type { SentQuery } from './parameters/validation.js';

/** A request whose answer took longer than a limit. */
export interface SlowRequest {
  /** The time until the answer was there, without its delivery to the reader. */
  readonly milliseconds: number;
  /** The names of its parameters, which are all declared, in the order sent; without the credentials. */
  readonly parameters: readonly string[];
}

/**
 * A completed request, for the log and the metrics. Only the ids of the request and of its trace may
 * contain text from the client, and they have a restricted form.
 */
export interface Observation {
  /** The request id; absent for input that is not a valid request. */
  readonly id?: string;
  /** How its page was read from the database: the plan, and how it was counted. */
  readonly plan?: { readonly name: string; readonly count: string };
  /** The ids of its trace and of its span in it, if there is a trace. */
  readonly traceId?: string;
  readonly spanId?: string;
  /** Absent for input that is not a valid request. */
  readonly method?: string;
  /** The path pattern, such as `/products/:productID`; absent if no route matched. */
  readonly route?: string;
  /** The `clientID`; absent before its credentials are verified. */
  readonly client?: string;
  /** The client's address, if its credentials were rejected. */
  readonly address?: string;
  /** The HTTP status; of a whole list that was cut off, that of its errcode. 0 if the client left before the response ended. */
  readonly status: number;
  /** `0` for a success. */
  readonly errcode: number;
  /** Until the connection has taken the response, or is closed, without a wait for a change; `slow` is without delivery. */
  readonly milliseconds: number;
  /** The number of objects in the response. */
  readonly rows: number;
  /** Absent unless it was slow. */
  readonly slow?: SlowRequest;
}

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

/**
 * A phase of a request. One follows the other:
 * - `admission`: its head, the bound on requests in work, the credentials, and the request limit
 * - `validation`: the names and values of its parameters, the limit of its client's requests in work, and its
 *   handler. Between it and the next phase the statements are built
 * - `version`: the lookup of the version of its list
 * - `queue`: the wait for the other reads of its client
 * - `query`: the wait for a connection, and the query. A list with conditions in SQL may have one more before,
 *   which asks what it reads
 * - `serialisation`: the envelope and its compression, or the rows of a whole list on their way
 */
export type Phase = 'admission' | 'validation' | 'version' | 'queue' | 'query' | 'serialisation';

/** The span of a request in a trace, with a span for each of its phases. */
export interface RequestTrace {
  /** As in `traceparent` (https://www.w3.org/TR/trace-context/): 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;

  /** Begins a phase, and ends the one before. */
  enter(phase: Phase): void;

  /** Ends the phase. One that fails ends with the request. */
  leave(): void;

  /** Ends the span of the request. */
  end(observation: Observation): void;
}

/** Runs work as a phase of a request. Without a trace it only runs it. */
export async function traced<T>(
  { trace }: { readonly trace?: RequestTrace },
  phase: Phase,
  work: () => Promise<T>,
): Promise<T> {
  trace?.enter(phase);
  const result = await work();
  trace?.leave();
  return result;
}
