/** A window after something was counted in it. */
export interface Counted {
  readonly count: number;
  /** Milliseconds until the window ends. */
  readonly remaining: number;
}

interface Window {
  count: number;
  readonly end: number;
}

/**
 * Counts by key, in windows that begin with a key's first count and have a fixed length. They end by
 * the monotonic clock, since the system's may be set back while they are open.
 */
export class FixedWindows {
  // Two generations, of which the older is dropped whole: to find and delete single windows in a Map
  // takes the longer, the more were deleted before.
  private young = new Map<string, Window>();
  private old = new Map<string, Window>();
  /** When the young windows become the old ones, by which time those have all ended. */
  private turn = -Infinity;

  /**
   * @param length of a window, in milliseconds
   * @param maximum number of windows in memory; beyond it the oldest half is dropped
   */
  constructor(
    private readonly length: number,
    private readonly maximum = Infinity,
  ) {}

  count(key: string): Counted {
    const now = performance.now();
    const known = this.young.get(key) ?? this.old.get(key);
    const window = known && known.end > now ? known : this.open(key, now);
    window.count += 1;
    // `end` is a rounded sum: the difference can exceed the length by a fraction.
    return { count: window.count, remaining: Math.min(window.end - now, this.length) };
  }

  private open(key: string, now: number): Window {
    if (now >= this.turn || this.young.size >= this.maximum / 2) {
      this.old = this.young;
      this.young = new Map();
      this.turn = now + this.length;
    }
    const window = { count: 0, end: now + this.length };
    this.young.set(key, window);
    return window;
  }
}
