import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import type { WindowState } from './fixed-windows.js';

/** Milliseconds that Redis has to respond. */
const REDIS_TIMEOUT = 200;
/** Milliseconds between a failure of Redis and the next attempt. */
const REDIS_RETRY_DELAY = 1000;

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

/** Counts events by key in windows of fixed length, for all instances together. */
export class RedisWindows {
  private readonly logger = new Logger('RateLimit');
  private readonly redis: Redis;
  private isUnavailable = false;
  /** `performance.now()` value before which Redis is not tried again. */
  private retryAt = -Infinity;

  /** @param length of a window in milliseconds */
  constructor(
    url: string,
    private readonly length: number,
  ) {
    this.redis = new Redis(url, {
      connectTimeout: 5000,
      commandTimeout: REDIS_TIMEOUT,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(50 * attempt, 1000),
    });
    this.redis.on('error', this.reportUnavailable);
  }

  /** @returns undefined if Redis is unavailable */
  async count(key: string): Promise<WindowState | undefined> {
    if (performance.now() < this.retryAt) return undefined;
    try {
      const result = await this.redis.eval(COUNT, 1, `catalogue-rate:${key}`, this.length);
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
