import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { PageKey } from './picked-objects.js';

/** What is known of a list at a version of its resources. */
export interface KnownList {
  /** The version of its resources at which it is true. */
  readonly version: string;
  /** The number of matching objects, an integer as text. */
  readonly count: string;
  /** The key of the last object before an offset; absent if it is not known. */
  readonly before?: PageKey;
  /**
   * The identifiers of the objects from the offset on, as text: those of the next pages. Never empty. With them
   * `before` is not known, unless another page ended at the offset.
   */
  readonly ahead?: readonly string[];
  /** How many objects before the offset have been read one page after the other at this version. */
  readonly walked?: number;
}

/** What a page told of an offset behind it. */
export interface KnownPlace extends Pick<KnownList, 'before' | 'ahead' | 'walked'> {
  readonly offset: number;
}

/**
 * Maximum number of objects whose identifiers are read ahead of a page. To find them in the order of a list
 * may take milliseconds, also for one page of them: a filter leaves few objects of an index, or all matching
 * objects are sorted.
 */
const MAXIMUM_AHEAD = 500;
/** Each of these pages has an entry with the identifiers from there on, so that few entries need little memory. */
const MAXIMUM_PAGES = 10;

/** Estimated bytes of all entries. */
const MAXIMUM_SIZE = 16 * 1024 * 1024;
/** Estimated bytes of an entry besides its texts. */
const OVERHEAD = 300;

/**
 * Remembers the counts of lists, and where their pages ended. Callers must compare `version` with that
 * of the snapshot from which they read.
 */
@Injectable()
export class KnownLists {
  private readonly known = new LRUCache<string, KnownList>({
    maxSize: MAXIMUM_SIZE,
    sizeCalculation: ({ before = [], ahead = [] }, key) =>
      [...before, ...ahead].reduce<number>(
        (sum, value) => sum + 2 * (value?.length ?? 0),
        OVERHEAD + 2 * key.length,
      ),
  });

  /** The version that resources were last seen at, by their names. */
  private readonly versions = new Map<string, string>();

  /**
   * What is known of a page; `undefined` if its resources have been seen at another version since.
   *
   * @param list a key of its conditions and its order
   */
  get(resources: readonly string[], list: string, offset: number): KnownList | undefined {
    const version = this.versions.get(resources.join());
    return [`${list} ${offset}`, list]
      .map((key) => this.known.get(key))
      .find((known) => known?.version === version);
  }

  /** Remembers what a page told. */
  set(
    resources: readonly string[],
    list: string,
    { version, count }: KnownList,
    places: readonly KnownPlace[],
  ): void {
    this.versions.set(resources.join(), version);
    this.known.set(list, { version, count });
    for (const { offset, ...place } of places) {
      const key = `${list} ${offset}`;
      const known = this.known.get(key);
      // A page of another limit may need it.
      const before = known?.version === version ? known.before : undefined;
      this.known.set(key, { version, count, before, ...place });
    }
  }
}

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
