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

/** Whether the service answered with one of these errors. */
export function hasErrcode(
  error: unknown,
  ...errcodes: readonly string[]
): error is CatalogueError {
  return error instanceof CatalogueError && errcodes.includes(error.errcode);
}

/**
 * There is no complete response of the service: it cannot be reached, it sent nothing for as long as the
 * time-out, the connection ended early, or something else answered. `cause` has the error of `fetch` or of the parser, if there is one.
 */
export class CatalogueConnectionError extends Error {
  override readonly name = 'CatalogueConnectionError';
}

/** The objects of a page, and the number of all objects as a text. */
interface ListData {
  readonly count: string;
  readonly objects: unknown[];
}

/** The body of every response but a stream. */
interface Envelope {
  readonly result?: { readonly errcode?: string; readonly msg: string } | null;
  readonly response_data?: ListData | null;
}

/** @throws CatalogueConnectionError if something else than the service answered */
export function dataOf(response: Response, body: string): ListData {
  const data = envelopeOf(body)?.response_data;
  if (!data) throw notOfTheService(response);
  return data;
}

/**
 * The error of an error response, with its body.
 *
 * @throws CatalogueConnectionError if something else than the service answered
 */
export function errorOf(response: Response, body: string): CatalogueError {
  const result = envelopeOf(body)?.result;
  if (typeof result?.errcode !== 'string') throw notOfTheService(response);
  const retryAfter = response.headers.get('Retry-After') ?? '';
  return new CatalogueError(
    result.errcode,
    result.msg,
    response.status,
    response.headers.get('X-Request-Id') ?? undefined,
    /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined,
  );
}

function envelopeOf(body: string): Envelope | null {
  try {
    return JSON.parse(body) as Envelope | null;
  } catch {
    return null;
  }
}

export function notOfTheService({ status, url }: Response): CatalogueConnectionError {
  return new CatalogueConnectionError(
    `The response ${status} of ${url} is not one of the catalogue`,
  );
}
