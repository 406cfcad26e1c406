import type { CatalogueRequest, SentParameter, SentRequest } from '../../http/request.js';
import { redactToken } from '../../http/envelope.js';
import { isCredential } from '../../http/parameters/declared-parameters.js';
import type { PagePlace } from '../reading/prepared-list.js';

/** Maximum characters of `Link`. Node's HTTP client reads at most 16 kB of headers by default. */
const MAXIMUM_LENGTH = 4000;

/** A page, as its links need it. */
export interface LinkedPage extends PagePlace {
  /** The number of objects in the list. */
  readonly count: number;
  /** The number of objects on the page. */
  readonly rows: number;
  /** The identifier of the last object of a full page. */
  readonly last: string | null;
}

/** Where a link leads: the parameter `offset` or `after`, or the first page. */
type Target = readonly [name: 'offset' | 'after', value: string] | undefined;

/**
 * The value of `Link` (RFC 8288): other pages of the list; `undefined` if there is none. Links have the
 * parameters as sent, without the credentials. Those that do not fit into the header are left out. They begin with `?`,
 * relative to the URL of the list (RFC 3986), since the service does not know the path at which a proxy has it.
 */
export function link(
  request: SentRequest & Pick<CatalogueRequest, 'parameters'>,
  page: LinkedPage,
): string | undefined {
  if (page.limit === 0) return undefined;
  const others = request.parameters.filter(
    ({ name }) => !isCredential(name) && name !== 'offset' && name !== 'after',
  );
  let value = '';
  for (const [relation, target] of targets(page)) {
    const each = `<?${query(others, target)}>; rel="${relation}"`;
    const longer = value === '' ? each : `${value}, ${each}`;
    if (longer.length <= MAXIMUM_LENGTH) value = longer;
  }
  // No links if they contain the token: a client may have sent it as another parameter, too.
  const isSafe = others.length === 0 || redactToken(value, request) === value;
  return value !== '' && isSafe ? value : undefined;
}

function targets({ offset, limit, count, rows, last }: LinkedPage): [string, Target][] {
  const at = (to: number): Target => (to > 0 ? ['offset', String(to)] : undefined);
  const behind: Target = last === null ? undefined : ['after', last];
  const isLast = offset === undefined ? rows < limit : offset + limit >= count;
  const found: [string, Target][] = [];
  if (!isLast && offset === undefined) found.push(['next', behind]);
  if (!isLast && offset !== undefined) found.push(['next', at(offset + limit)]);
  if (offset) found.push(['prev', at(Math.min(offset, count) - limit)]);
  // The page of `next`, but it neither skips nor repeats an object when others are inserted or deleted.
  if (!isLast && offset !== undefined && behind) found.push(['after', behind]);
  if (offset !== 0) found.push(['first', undefined]);
  if (!isLast) found.push(['last', at(Math.floor((count - 1) / limit) * limit)]);
  return found;
}

function query(others: readonly SentParameter[], target: Target): string {
  const pairs = others.map(({ name, value }): [string, string] => [name, value]);
  if (target) pairs.push([...target]);
  return new URLSearchParams(pairs).toString();
}
