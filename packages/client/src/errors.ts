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
