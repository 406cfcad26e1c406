import { LRUCache } from 'lru-cache';
import { type ApiError, errors } from '../http/errors.js';

/** The state of a window after an event was counted in it. */
export interface WindowState {
  readonly count: number;
  /** Milliseconds until the window ends. */
  readonly milliseconds: number;
}

/** Maximum number of windows in memory, about 10 MB: the number of /64 networks in a /48. */
const MAXIMUM = 65_536;

/**
 * Counts events by key in windows of fixed length. A window begins with the first event of its key.
 * Windows end by the monotonic clock, since the system clock may be set back.
 */
export class FixedWindows {
  private readonly windows: LRUCache<string, { count: number }>;

  /** @param length of a window in milliseconds */
  constructor(length: number, maximum = MAXIMUM) {
    // For `max`, all of the memory would be allocated here, which takes 20 ms.
    this.windows = new LRUCache({
      maxSize: maximum,
      sizeCalculation: () => 1,
      ttl: length,
      ttlResolution: 0,
    });
  }

  count(key: string): WindowState {
    let window = this.windows.getRemainingTTL(key) > 0 ? this.windows.get(key) : undefined;
    if (!window) this.windows.set(key, (window = { count: 0 }));
    window.count += 1;
    return { count: window.count, milliseconds: this.windows.getRemainingTTL(key) };
  }
}

/** The error `-40` for a limit per minute, with `Retry-After`: when its window ends, after some milliseconds. */
export function limitExceeded(limit: number, milliseconds: number): ApiError {
  const seconds = String(wholeSeconds(milliseconds));
  return errors.limitExceeded(String(limit)).withHeaders({ 'Retry-After': seconds });
}

/** The whole seconds after which a window has ended, at minimum 1. */
export function wholeSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}
