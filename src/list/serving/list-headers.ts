import type { Response } from 'express';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import { redactToken } from '../../http/envelope.js';
import type { PreparedList, State } from '../prepared-list.js';
import { entityTag } from './entity-tag.js';
import { link } from './link.js';

/** Sets `ETag` and, for clients that keep a copy, `X-Updated-Until`. */
export function setState(response: Response, { version, until }: State, key: string): void {
  response.setHeader('ETag', entityTag(version, key));
  if (until !== null) response.setHeader('X-Updated-Until', until);
}

/** Sets `Link` for a page of a list, and the number of its objects in `request.rows`. */
export function setPosition(
  { offset, limit }: Pick<PreparedList, 'offset' | 'limit'>,
  total: string,
  request: CatalogueRequest,
  response: Response,
): void {
  const count = Number(total);
  // Exact, because the count and the page come from one snapshot.
  request.rows = Math.max(0, Math.min(limit, count - offset));
  const [path = ''] = request.url.split('?', 1);
  const links = link(path, request.parameters, { offset, limit, count });
  // No links if they contain the token: a client may have sent it as another parameter, too.
  if (links !== undefined && redactToken(links, request) === links) {
    response.setHeader('Link', links);
  }
}
