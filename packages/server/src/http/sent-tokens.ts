import type { IncomingMessage } from 'node:http';
import type { CatalogueRequest } from './catalogue-request.js';
import { parseQuery } from './parameters/query-string.js';

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
