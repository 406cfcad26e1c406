import type { KnownList, KnownPlace } from '../statement/known-lists.js';
import type { PageKey } from '../statement/picked-objects.js';

/**
 * Maximum number of objects whose identifiers are read ahead of a page. To find them in the order of a list
 * may take milliseconds, also for one page of them: a filter leaves few objects of an index, or all matching
 * objects are sorted.
 */
const MAXIMUM_AHEAD = 500;
/** Each of these pages has an entry with the identifiers from there on, so that few entries need little memory. */
const MAXIMUM_PAGES = 10;

/** What of a page is the same for the next one. */
interface Read {
  readonly offset: number;
  readonly limit: number;
  /** What was known of the offset before, at the version of the page. */
  readonly known: KnownList | undefined;
}

/**
 * How many objects behind a page are looked up with it: as many as were read before it, one page after the other. So pages
 * that are never asked for cost at most as much as those that were.
 */
export function objectsAhead(known: KnownList | undefined, limit: number): number {
  if (!known?.before || limit === 0) return 0;
  const objects = Math.min(known.walked ?? 0, MAXIMUM_AHEAD);
  return limit * Math.min(Math.floor(objects / limit), MAXIMUM_PAGES);
}

/** The identifiers of the objects of a page; `undefined` if they are not known. */
export function knownIdentifiers(
  { ahead, count }: KnownList,
  { offset, limit }: Pick<Read, 'offset' | 'limit'>,
): readonly string[] | undefined {
  if (!ahead) return undefined;
  const isWhole = ahead.length >= limit || offset + ahead.length === Number(count);
  return isWhole ? ahead.slice(0, limit) : undefined;
}

/** What a page tells of the offsets behind it, if it was read by known identifiers. */
export function placesBehindKnown({ offset, limit, known }: Read): KnownPlace[] {
  const ahead = known?.ahead?.slice(limit) ?? [];
  if (ahead.length === 0) return [];
  return [{ offset: offset + limit, ahead, walked: (known?.walked ?? 0) + limit }];
}

/**
 * What a page tells of the offsets behind it, if it was found in the order of the list.
 *
 * @param key the key of the last object that was found, as JSON
 * @param aheadText the identifiers of those behind the page as JSON; null if there are none
 */
export function placesBehind(
  { offset, limit, known }: Read,
  count: string,
  key: string,
  aheadText: string | null,
): KnownPlace[] {
  const ahead = JSON.parse(aheadText ?? '[]') as string[];
  const walked = (known?.before ? (known.walked ?? 0) : 0) + limit;
  const next = offset + limit;
  const end = {
    offset: Math.min(next + ahead.length, Number(count)),
    before: JSON.parse(key) as PageKey,
    walked: walked + ahead.length,
  };
  return ahead.length === 0 ? [end] : [{ offset: next, ahead, walked }, end];
}
