/** The service answered with an error. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';

  constructor(
    /** What went wrong, such as `-31`: the public code by which to decide. */
    readonly errcode: string,
    /** What to change, for people. */
    readonly msg: string,
    /** The HTTP status. */
    readonly status: number,
    /** Names the request in the log of the service. */
    readonly requestId: string | undefined,
    /** Seconds after which to try again, where that helps. */
    readonly retryAfter: number | undefined,
  ) {
    super(`${msg} (${errcode})`);
  }
}

/**
 * There is no complete response of the service: it cannot be reached, the connection ended early, or
 * something else answered. `cause` has the error of `fetch`, if there is one.
 */
export class CatalogueConnectionError extends Error {
  override readonly name = 'CatalogueConnectionError';
}

/** The error of an error response, with its body. */
export function errorOf(response: Response, body: string): Error {
  const { result } = envelopeOf(response, body);
  const seconds = Number(response.headers.get('Retry-After') ?? NaN);
  return new CatalogueError(
    result.errcode,
    result.msg,
    response.status,
    response.headers.get('X-Request-Id') ?? undefined,
    Number.isNaN(seconds) ? undefined : seconds,
  );
}

/** The body of every response but a whole list. */
export interface Envelope {
  readonly result: { readonly errcode: string; readonly msg: string };
  readonly response_data?: { readonly count: string; readonly objects: unknown[] };
}

/** @throws CatalogueConnectionError if it is none */
export function envelopeOf(response: Response, body: string): Envelope {
  try {
    const envelope = JSON.parse(body) as Envelope;
    if (typeof envelope.result.errcode === 'string') return envelope;
  } catch {
    // Reported below, too.
  }
  const what = `${response.status} of ${response.url}`;
  throw new CatalogueConnectionError(`The response ${what} is not one of the catalogue service`);
}
