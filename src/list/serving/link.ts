import { isCredential } from '../../http/parameters/credentials-query.dto.js';
import type { Parameter } from '../../http/parameters/query-string.js';

/** Maximum characters of `Link`. Node's HTTP client reads at most 16 kB of headers by default. */
const MAXIMUM_LENGTH = 4000;

/** The position of a page in its list. */
export interface Position {
  readonly offset: number;
  readonly limit: number;
  readonly count: number;
}

/**
 * The value of `Link` (RFC 8288), with the previous and the next page; `undefined` if there is neither,
 * or if it would be too long. Links have the parameters as sent, without the credentials.
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
  return links.length === 0 || value.length > MAXIMUM_LENGTH ? undefined : value;
}

function query(parameters: readonly Parameter[], offset: number): string {
  const kept = parameters.filter(({ name }) => !isCredential(name) && name !== 'offset');
  const pairs = kept.map(({ name, value }): [string, string] => [name, value]);
  if (offset > 0) pairs.push(['offset', String(offset)]);
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}
