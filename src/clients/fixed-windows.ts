/** The state of a window after an event was counted in it. */
export interface WindowState {
  readonly count: number;
  /** Milliseconds until the window ends. */
  readonly milliseconds: number;
}

interface Window {
  count: number;
  readonly end: number;
}

/**
 * Counts events by key in windows of fixed length. A window begins with the first event of its key.
 * Windows end by the monotonic clock, since the system clock may be set back.
 */
export class FixedWindows {
  // Two generations; the older one is dropped as a whole. To delete single windows from the front of
  // a Map gets slower with the number of deletions before.
  private young = new Map<string, Window>();
  private old = new Map<string, Window>();
  /** `performance.now()` value at which all old windows have ended and the generations rotate. */
  private rotateAt = -Infinity;

  /**
   * @param length of a window in milliseconds
   * @param maximum number of windows in memory; above it the older half is dropped
   */
  constructor(
    private readonly length: number,
    private readonly maximum = Infinity,
  ) {}

  count(key: string): WindowState {
    const now = performance.now();
    const existing = this.young.get(key) ?? this.old.get(key);
    const window = existing && existing.end > now ? existing : this.open(key, now);
    window.count += 1;
    // `end` is a rounded sum, so the difference can exceed the length slightly.
    return { count: window.count, milliseconds: Math.min(window.end - now, this.length) };
  }

  private open(key: string, now: number): Window {
    if (now >= this.rotateAt || this.young.size >= this.maximum / 2) {
      this.old = this.young;
      this.young = new Map();
      this.rotateAt = now + this.length;
    }
    const window = { count: 0, end: now + this.length };
    this.young.set(key, window);
    return window;
  }
}
