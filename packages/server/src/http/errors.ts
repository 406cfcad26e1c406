/** An error response: an errcode of the table below, its HTTP status and its message. */
export class ApiError extends Error {
  override name = 'ApiError';

  constructor(
    /** The public error code, a nonzero number. */
    readonly errcode: number,
    /** The HTTP status. */
    readonly status: number,
    message: string,
    /** Additional response headers, such as `Allow`. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    const { stackTraceLimit } = Error;
    // A stack trace of an expected error is never read, and would be most of the cost of a refusal.
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }

  /** A copy with another message. */
  withMessage(message: string): ApiError {
    return new ApiError(this.errcode, this.status, message, this.headers);
  }

  /** A copy with another of the statuses that its definition lists, or that its condition allows. */
  withStatus(status: number): ApiError {
    return new ApiError(this.errcode, status, this.message, this.headers);
  }

  /** A copy with more headers. */
  withHeaders(headers: Record<string, string>): ApiError {
    return new ApiError(this.errcode, this.status, this.message, { ...this.headers, ...headers });
  }
}

/** One string for each `<…>` placeholder of a message. */
type Placeholders<Message extends string> = Message extends `${string}<${string}>${infer Rest}`
  ? [string, ...Placeholders<Rest>]
  : [];

/** One row of the error table. A call creates the error, with an argument for each placeholder of its message. */
export interface ErrorDefinition<Message extends string = string> {
  (...values: Placeholders<Message>): ApiError;
  readonly errcode: number;
  readonly statuses: readonly number[];
  readonly condition: string;
  readonly message: Message;
  /** For the OpenAPI document. */
  readonly example: ApiError;
}

function define<const Message extends string>(
  errcode: number,
  status: number | readonly [number, number],
  condition: string,
  message: Message,
  example: Placeholders<Message>,
  headers: Readonly<Record<string, string>> = {},
): ErrorDefinition<Message> {
  const statuses: readonly number[] = typeof status === 'number' ? [status] : status;
  const create = (...values: Placeholders<Message>): ApiError => {
    const remaining: string[] = [...(values as string[])];
    const text = message.replace(/<[^>]+>/g, () => remaining.shift() ?? '');
    return new ApiError(errcode, statuses[0] ?? 500, text, headers);
  };
  return Object.assign(create, {
    errcode,
    statuses,
    condition,
    message,
    example: create(...example),
  });
}

/** The header that a 401 response must have (RFC 9110, section 11.6.1). */
const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="catalogue"' };

/**
 * Every error response. Codes are public: a code is never renumbered and never reused. A test checks
 * that the documented table agrees with this one.
 *
 * `Retry-After` of `-3` is as long as a query may run by default: a client that repeats its request
 * then keeps a connection to the database busy for half of the time at most.
 */
// prettier-ignore
export const errors = {
  internal: define(-1, 500, 'a fault of ours', 'Internal error', []),
  unavailable: define(-2, 503, 'the database cannot be reached; with `Retry-After`', 'The service is temporarily unavailable', [], { 'Retry-After': '1' }),
  tookTooLong: define(-3, 503, 'the query ran past its time; with `Retry-After`', 'The request took too long', [], { 'Retry-After': '5' }),
  busy: define(-4, 503, 'overloaded or shutting down; with `Retry-After`', 'The service is busy', [], { 'Retry-After': '1' }),

  credentialMissing: define(-10, 401, 'a credential is missing', 'The parameter <name> is required', ['access_token'], CHALLENGE),
  credentialsInvalid: define(-11, 401, 'unknown client or wrong token', 'The credentials are not valid', [], CHALLENGE),
  tokenExpired: define(-12, 401, 'the token has expired', 'The access token has expired', [], CHALLENGE),
  clientDisabled: define(-13, 403, 'the client is disabled', 'The client is disabled', []),
  credentialRepeated: define(-14, 400, 'a credential given in two places', 'The parameter <name> must be given only once', ['clientID']),
  forbidden: define(-15, 403, 'the client may not make this request', '<reason>', ['The stock of other shops is not for this client']),

  malformed: define(-20, 400, 'the request cannot be parsed (percent-encoding, HTTP syntax)', 'The request is malformed', []),
  parameterMissing: define(-21, 400, 'a required parameter is missing', 'The parameter <name> is required', ['day']),
  parameterInvalid: define(-22, 400, 'a value of the wrong type or form', 'The parameter <name> must be <what it must be>', ['priceMin', 'a decimal number such as 19.99']),
  parameterUndefined: define(-23, 400, 'an undefined parameter', 'The parameter <name> must not be present in this request', ['colour']),
  parameterRepeated: define(-24, 400, 'a parameter given twice', 'The parameter <name> must be given only once', ['limit']),
  nameUnknown: define(-25, 400, 'an unknown name in `fields`, `include`, `sort` or `facets`', 'The parameter <name> must not name <value>; it may name <the allowed names>', ['sort', 'colour', 'name, price']),
  outOfRange: define(-26, 400, 'a number out of range', 'The parameter <name> must be between <least> and <most>', ['limit', '0', '1000']),
  refused: define(-27, 400, 'a rule of the path; also with any other status of 4xx', '<reason>', ['The day must not be a Sunday']),

  pathUnknown: define(-30, 404, 'no such path', 'There is no resource at <path>', ['/colours']),
  objectUnknown: define(-31, 404, 'no such object', 'There is no <resource> object <identifier>', ['products', 'p-999999']),
  methodNotAllowed: define(-32, 405, 'the method is not offered; with `Allow`', 'The method <METHOD> is not allowed for this resource', ['POST']),
  tooLarge: define(-34, [414, 431], 'the URL or the headers are too large', 'The request is too large', []),
  conflict: define(-35, 409, 'a conflict with the state of an object', '<reason>', ['The stock is being counted']),
  gone: define(-36, 410, 'the object is gone for good', '<reason>', ['This collection was given up']),
  unprocessable: define(-37, 422, 'the request is well-formed, and cannot be met', '<reason>', ['The route has no end']),
  historyLost: define(-38, 410, 'a time since which changes were lost (failover, restore)', 'The changes since then are not known: read the whole list', []),
  limitExceeded: define(-40, 429, 'too many requests; with `Retry-After`', 'The request limit of <n> per minute is exceeded', ['600']),
} as const;

/** The methods of every endpoint, as `Allow` lists them. */
export const ALLOWED_METHODS = 'GET, HEAD, OPTIONS';

/** `-30` for the path of a URL. The path is cut at the first `&`: a token may follow in mistyped parameters. */
export function noResourceAt(url = ''): ApiError {
  return errors.pathUnknown(url.split(/[?&]/, 1)[0] ?? '');
}
