import type { Response } from 'express';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import { redactToken } from '../../http/envelope.js';
import type { PagePlace, State, VersionedPage } from '../reading/prepared-list.js';
import { entityTag } from './entity-tag.js';
import { link } from './link.js';

/** Sets `ETag` and, for clients that keep a copy, `X-Updated-Until`. */
export function setState(response: Response, { version, until }: State, key: string): void {
  response.setHeader('ETag', entityTag(version, key));
  if (until !== null) response.setHeader('X-Updated-Until', until);
}

/** Sets `Link` for a page of a list. */
export function setLinks(
  { offset, limit }: PagePlace,
  { count, rows, last }: Pick<VersionedPage, 'count' | 'rows' | 'last'>,
  request: CatalogueRequest,
  response: Response,
): void {
  const [path = ''] = request.url.split('?', 1);
  const position = { offset, limit, count: Number(count), rows: Number(rows), last };
  const links = link(path, request.parameters, position);
  // No links if they contain the token: a client may have sent it as another parameter, too.
  if (links !== undefined && redactToken(links, request) === links) {
    response.setHeader('Link', links);
  }
}
