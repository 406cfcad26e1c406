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
