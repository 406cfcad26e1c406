import { CatalogueConnectionError, CatalogueError } from './errors.js';

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
