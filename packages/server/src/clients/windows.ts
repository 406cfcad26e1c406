import { Logger } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { type ApiError, errors } from '../http/errors.js';

/** Length of a window in milliseconds. */
const WINDOW = 60_000;
/** Maximum number of windows in memory, about 10 MB: the number of /64 networks in a /48. */
const MAXIMUM = 65_536;
/** Milliseconds that Redis has to respond. */
const REDIS_TIMEOUT = 200;
/** Milliseconds between a failure of Redis and the next attempt. */
const REDIS_RETRY_DELAY = 1000;

/** The state of a window after an event was counted in it. */
interface WindowState {
  readonly count: number;
  /** Milliseconds until the window ends. */
  readonly milliseconds: number;
}

/**
 * Counts events by key in windows of a minute, in the memory of this instance. A window begins with the first event of its key.
 * Windows end by the monotonic clock, since the system clock may be set back.
 */
export class FixedWindows {
  private readonly windows: LRUCache<string, { count: number }>;

  constructor(maximum = MAXIMUM) {
    // For `max`, all of the memory would be allocated here, which takes 20 ms.
    this.windows = new LRUCache({
      maxSize: maximum,
      sizeCalculation: () => 1,
      ttl: WINDOW,
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

/**
 * Counts in a window of Redis. Returns the count, and the milliseconds until the window ends. Redis expires keys by the
 * system clock: if that is set back, the length of the window bounds these milliseconds.
 */
const COUNT = `
  local count = redis.call('incr', KEYS[1])
  local milliseconds = redis.call('pttl', KEYS[1])
  local length = tonumber(ARGV[1])
  if milliseconds < 0 or milliseconds > length then
    redis.call('pexpire', KEYS[1], length)
    milliseconds = length
  end
  return {count, milliseconds}`;

/** Counts events by key in windows of a minute in Redis, for all instances together. */
export class RedisWindows {
  private readonly logger = new Logger('RateLimit');
  private isUnavailable = false;
  /** `performance.now()` value before which Redis is not tried again. */
  private retryAt = -Infinity;

  constructor(private readonly redis: Redis) {
    redis.on('error', this.reportUnavailable);
  }

  static async connect(url: string): Promise<RedisWindows> {
    // Loading the client of Redis takes a fifth of a second, which each start without one saves.
    const { Redis } = await import('ioredis');
    const redis = new Redis(url, {
      connectTimeout: 5000,
      commandTimeout: REDIS_TIMEOUT,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(50 * attempt, 1000),
    });
    return new RedisWindows(redis);
  }

  /** @returns undefined if Redis is unavailable */
  async count(key: string): Promise<WindowState | undefined> {
    if (performance.now() < this.retryAt) return undefined;
    try {
      const result = await this.redis.eval(COUNT, 1, `catalogue-rate:${key}`, WINDOW);
      const [count, milliseconds] = result as [number, number];
      if (this.isUnavailable) this.logger.log('Redis is back, the instances count together');
      this.isUnavailable = false;
      return { count, milliseconds };
    } catch (error) {
      // Otherwise every request would wait for the timeout.
      this.retryAt = performance.now() + REDIS_RETRY_DELAY;
      this.reportUnavailable(error as NodeJS.ErrnoException);
      return undefined;
    }
  }

  disconnect(): void {
    this.redis.disconnect();
  }

  /** Logs once that Redis is unavailable, without the message, which may contain a password. */
  private readonly reportUnavailable = ({ code, name, message }: NodeJS.ErrnoException): void => {
    if (this.isUnavailable) return;
    this.isUnavailable = true;
    // Error replies of Redis begin with a code in capitals, such as OOM.
    const [reason = name] = /^[A-Z]{2,}\b|timed out/.exec(message) ?? [];
    this.logger.warn(`Redis is away, each instance counts for itself: ${code ?? reason}`);
  };
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
