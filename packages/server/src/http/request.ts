import type { Type } from '@nestjs/common';
import type { Request, Response } from 'express';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ScopeClient } from '../resource/visibility.js';
import { ApiError, errors } from './errors.js';
import type { ResponseForm } from './negotiation.js';
import type { Observation, RequestTrace } from './observation.js';
import { COMMON_HEADERS, type HeaderList } from './server/headers.js';

/** A request as the guards and handlers see it. */
export interface CatalogueRequest extends Request {
  res: Response;
  /** The request id, as in the log and in `X-Request-Id`. */
  id: string;
  /** Every parameter of the query string, decoded, in the order sent. */
  parameters: readonly SentParameter[];
  /** The class that declares them for its path; absent: that of its handler's `@Query()`. */
  queryClass?: Type<object>;
  /** The form of its response; see `formOf`. */
  form?: ResponseForm;
  /** The number of objects in the response. */
  rows?: number;
  /** How its page was read from the database. */
  plan?: Observation['plan'];
  /** The client; set once its credentials are verified. */
  client?: ScopeClient & { readonly rateLimit: number | null };
  /** That of its error response; absent for any other response. */
  errcode?: number;
  /** The status to report if a whole list is cut off: that of its failure, or 0 if its reader left. Absent for others. */
  cutOffAs?: number;
  /** `performance.now()` when its answer was there; absent for an error response. */
  answeredAt?: number;
  /**
   * The `performance.now()` values between which it waited for a change, and the key of its page, which a whole list has not;
   * absent: it has not waited.
   */
  waited?: { readonly began: number; readonly key?: string | undefined; ended?: number };
  /** The trace of the request; absent unless traces are exported. */
  trace?: RequestTrace;
  /** The client's address; set if its credentials were rejected. */
  failedLoginAddress?: string;
}

/**
 * Maximum bytes of a request target. A longer one gets status 414. It is less than `maxHeaderSize` in `enveloped-server.ts`,
 * and that is less than `tune.bufsize` in `deploy/haproxy.cfg`.
 */
const MAX_TARGET_LENGTH = 16_384;

/**
 * Processes the head of a request before Express does. Sets the request id, the common response
 * headers, and the parsed parameters.
 *
 * @param headers those of every response, except `X-Request-Id`
 * @param id the request id
 * @returns the error for an invalid `Host` or request target; otherwise `undefined`
 */
export function receive(
  request: CatalogueRequest,
  response: ServerResponse,
  headers: HeaderList = COMMON_HEADERS,
  id = requestId(request),
): ApiError | undefined {
  request.id = id;
  response.setHeader('X-Request-Id', id);
  for (const [name, value] of headers) response.setHeader(name, value);
  const { host = [] } = request.headersDistinct;
  // RFC 9112, section 3.2: an HTTP/1.1 request has exactly one Host.
  if (host.length > 1 || (host.length === 0 && request.httpVersion === '1.1')) {
    return errors.malformed();
  }
  const target = parseTarget(request.url);
  if (target instanceof ApiError) return target;
  request.url = target.url;
  request.parameters = target.parameters;
  return undefined;
}

/** The origin form of a request target, its path and its parameters; or the error for an invalid one. */
export function parseTarget(
  target: string,
): { url: string; path: string; parameters: SentParameter[] } | ApiError {
  const url = validTarget(target);
  if (url === undefined) return errors.malformed();
  if (url.length > MAX_TARGET_LENGTH) return errors.tooLarge();
  const [path = '', ...query] = url.split('?');
  if (!decode(path).isWellFormed()) return errors.malformed();
  return { url, path, parameters: parseQuery(query.join('?')) };
}

/** What could be an access token: they are 256 bits in base64url. A `traceparent` is longer. */
const TOKEN_SHAPED = /(?<![\w-])[\w-]{43}(?![\w-])/;

/** The client's request id if it is a plain token without the access token; otherwise a new one. */
export function requestId(request: CatalogueRequest): string {
  const { 'x-request-id': sent } = request.headers;
  if (typeof sent !== 'string' || !/^[A-Za-z0-9._~-]{1,128}$/.test(sent)) return randomUUID();
  // The access token in an invalid target is not known, nor is one that is sent in a form that is refused.
  if (validTarget(request.url) === undefined || TOKEN_SHAPED.test(sent)) return randomUUID();
  return sentTokens(request).some((token) => sent.includes(token)) ? randomUUID() : sent;
}

/** Path and query of a request target; `undefined` if it is invalid, as with a `%` without two hexadecimal digits. */
function validTarget(url: string): string | undefined {
  const target = originForm(url);
  return target === undefined || /#|%(?![0-9A-Fa-f]{2})/.test(target) ? undefined : target;
}

/** Path and query of a target; `undefined` if it has none. A proxy may send the absolute form (RFC 9112, 3.2.2). */
function originForm(url: string): string | undefined {
  if (url.startsWith('/') || url === '*') return url;
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '');
  if (path === url || !URL.canParse(url)) return undefined;
  return path.startsWith('/') ? path : `/${path}`;
}

/** One `name=value` of a query string, decoded. */
export interface SentParameter {
  readonly name: string;
  readonly value: string;
}

/**
 * Marks a value whose bytes are not valid UTF-8. Decoding never yields a lone surrogate, so only such
 * values are not well-formed (`String.isWellFormed`).
 */
const ILL_FORMED = '\ud800';

/**
 * Parses a raw query string, as in https://url.spec.whatwg.org/#urlencoded-parsing: `+` is a space, a
 * name without `=` has an empty value, and empty parts between two `&` are ignored. Names are
 * literal: brackets have no meaning.
 *
 * @returns every parameter in the order sent; repeated names stay repeated
 */
export function parseQuery(query: string): SentParameter[] {
  const parameters: SentParameter[] = [];
  for (const part of query.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = equals < 0 ? part : part.slice(0, equals);
    const value = equals < 0 ? '' : part.slice(equals + 1);
    // Error messages contain the name, so it has no marker.
    parameters.push({ name: decode(name).replace(ILL_FORMED, ''), value: decode(value) });
  }
  return parameters;
}

/** Decodes a component. If its bytes are not valid UTF-8, `ILL_FORMED` is appended. */
function decode(component: string): string {
  if (!/[%+]/.test(component)) return component;
  const spaced = component.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    const bytes = spaced.replace(/%(..)/g, (_, hex: string) =>
      String.fromCharCode(parseInt(hex, 16)),
    );
    return Buffer.from(bytes, 'latin1').toString() + ILL_FORMED;
  }
}

/** Where a request may have its access token. */
export type SentRequest = Pick<IncomingMessage, 'url' | 'headersDistinct'>;

/**
 * What a request may send as its access token: the words of every `access_token`, decoded, and of every
 * `Authorization`. These are more than the service accepts, since it must repeat no token, also of a request that it
 * refuses.
 */
export function sentTokens({ url = '', headersDistinct }: SentRequest): string[] {
  // Also behind an `&` in the path, as in a URL that was put together without a `?`.
  const all = parseQuery(url.replaceAll('?', '&'));
  const parameters = all.filter(({ name }) => name === 'access_token');
  const { authorization = [] } = headersDistinct;
  return [...parameters.map(({ value }) => value), ...authorization]
    .flatMap((text) => text.split(/\s+/))
    .filter((word) => word !== '');
}

/** Whether a request sends anything as its token, also nothing but a name or what the service does not accept. */
export function sendsToken({
  headers,
  parameters,
}: Pick<CatalogueRequest, 'headers' | 'parameters'>): boolean {
  return 'authorization' in headers || parameters.some(({ name }) => name === 'access_token');
}
