import { hash } from 'node:crypto';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import type { Prepared, PreparedPage, ReadPage, State } from '../reading/prepared-list.js';
import { waitOf } from './change-wait.js';

/**
 * The entity tag of a list (RFC 9110, section 8.8.3). It is weak, because it is the same for every
 * content coding.
 *
 * @param key distinguishes lists of the same version
 */
export function entityTag({ version }: State, key: string): string {
  return `W/"${version}-${key.slice(0, 12)}"`;
}

/**
 * The entity tag of a single object, weak for the same reason. It changes with the text of the object,
 * hence also with `fields`, and not with a write that leaves the object as it was.
 *
 * @param json the object as in the response
 */
export function objectTag(json: string): string {
  return `W/"${hash('sha256', json, 'base64url')}"`;
}

/** Whether the client has what a tag is of, by weak comparison of `If-None-Match` (RFC 9110, section 13.1.2). */
export function hasTag({ headers }: CatalogueRequest, tag: string): boolean {
  const { 'if-none-match': ifNoneMatch = '' } = headers;
  if (ifNoneMatch.trim() === '*') return true;
  const sent: string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return sent.includes(tag.slice(2));
}

/**
 * The entity tag of a page that was read. A client that does not see every column has one of what it sees, since the
 * version tells of other changes.
 */
export function tagOf({ isPartial, key }: PreparedPage, page: ReadPage): string {
  return isPartial ? objectTag(`${page.count} ${page.objects}`) : entityTag(page, key);
}

/**
 * Sets `ETag`, if there is a tag, for clients that keep a copy `X-Updated-Until`, and for those that wait
 * `Preference-Applied`.
 */
export function setState(
  prepared: Prepared,
  request: CatalogueRequest,
  state: State,
  tag: string | undefined,
): void {
  const { res } = request;
  const seconds = waitOf(prepared, request);
  if (seconds !== undefined) res.setHeader('Preference-Applied', `wait=${seconds}`);
  if (tag !== undefined) res.setHeader('ETag', tag);
  if (state.until !== null) res.setHeader('X-Updated-Until', state.until);
}
