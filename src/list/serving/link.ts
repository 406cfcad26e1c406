import type { Parameter } from '../../http/parameters/query-string.js';

/** Characters of a query beyond which no link is given: a client reads 16 kB of headers at most. */
const LONGEST_QUERY = 2000;

/** Where a page lies among all that match. */
export interface Position {
  readonly offset: number;
  readonly limit: number;
  readonly count: number;
}

/**
 * The value of `Link` (RFC 8288) with the pages before and behind one, `undefined` if there are
 * none: the parameters as they were sent, but for the credentials.
 */
export function link(
  path: string,
  parameters: readonly Parameter[],
  { offset, limit, count }: Position,
): string | undefined {
  if (limit === 0) return undefined;
  const pages: [relation: string, offset: number][] = [];
  if (offset + limit < count) pages.push(['next', offset + limit]);
  if (offset > 0) pages.push(['prev', Math.max(0, Math.min(offset, count) - limit)]);
  const links = pages.map(
    ([relation, at]) => `<${path}${query(parameters, at)}>; rel="${relation}"`,
  );
  const value = links.join(', ');
  return links.length === 0 || value.length > 2 * LONGEST_QUERY ? undefined : value;
}

function query(parameters: readonly Parameter[], offset: number): string {
  const kept = parameters.filter(
    ({ name }) => !['clientID', 'access_token', 'offset'].includes(name),
  );
  const pairs = kept.map(({ name, value }): [string, string] => [name, value]);
  if (offset > 0) pairs.push(['offset', String(offset)]);
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}
