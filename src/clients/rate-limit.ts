import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Redis } from 'ioredis';
import { type RateLimiterAbstract, RateLimiterRedis } from 'rate-limiter-flexible';
import { type WindowState, FixedWindows } from './fixed-windows.js';

/** Length of a window in seconds. It begins with the first request of a client. */
const WINDOW_SECONDS = 60;
/** Milliseconds that Redis has to respond. After that, the request is counted in memory. */
const REDIS_TIMEOUT = 200;
/** Milliseconds between a failure of Redis and the next attempt. */
const REDIS_RETRY_DELAY = 1000;
/** No limit in the limiter itself: the limit differs between clients and is checked here. */
const points = Number.MAX_SAFE_INTEGER;

/**
 * Lua script that counts in a window of Redis. Returns the count, and the milliseconds until the
 * window ends. Redis expires keys by the system clock. If that is set back, the script bounds these
 * milliseconds by the length of the window.
 *
 * ARGV: the number to count, the length of the window in seconds.
 */
const COUNT = `
  local count = redis.call('incrby', KEYS[1], ARGV[1])
  local milliseconds = redis.call('pttl', KEYS[1])
  local length = 1000 * ARGV[2]
  if milliseconds < 0 or milliseconds > length then
    redis.call('pexpire', KEYS[1], length)
    milliseconds = length
  end
  return {count, milliseconds}`;

/** The window of a client after a request was counted in it. */
export interface Window {
  readonly limit: number;
  /** Remaining requests; negative if this request exceeded the limit. */
  readonly remaining: number;
  /** Milliseconds until the window ends. */
  readonly milliseconds: number;
}

/**
 * Counts the requests of each client per minute. With Redis, all instances share the counts. Without
 * Redis, or while it is unavailable, each instance counts in memory.
 */
@Injectable()
export class RateLimit implements OnModuleDestroy {
  private readonly logger = new Logger(RateLimit.name);
  private readonly memory = new FixedWindows(1000 * WINDOW_SECONDS);
  private readonly redis: Redis | undefined;
  private readonly limiter: RateLimiterAbstract | undefined;
  private isUnavailable = false;
  /** `performance.now()` value before which Redis is not tried again. */
  private retryAt = -Infinity;

  /**
   * @param defaultLimit requests per minute of a client without a limit of its own; 0: no limit
   * @param redisUrl of the Redis that all instances share; undefined: count in memory
   */
  constructor(
    private readonly defaultLimit: number,
    redisUrl: string | undefined,
  ) {
    if (redisUrl === undefined) return;
    this.redis = this.connect(redisUrl);
    this.limiter = new RateLimiterRedis({
      storeClient: this.redis,
      rejectIfRedisNotReady: true,
      keyPrefix: 'catalogue-rate',
      points,
      duration: WINDOW_SECONDS,
      customIncrTtlLuaScript: COUNT,
    });
  }

  /**
   * Counts a request of a client.
   *
   * @param clientLimit requests per minute; 0: no limit; null: the default
   * @returns `undefined` if the client has no limit
   */
  async count(clientID: string, clientLimit: number | null): Promise<Window | undefined> {
    const limit = clientLimit ?? this.defaultLimit;
    if (limit === 0) return undefined;
    const { count, milliseconds } =
      (await this.countInRedis(clientID)) ?? this.memory.count(clientID);
    return { limit, remaining: limit - count, milliseconds };
  }

  onModuleDestroy(): void {
    this.redis?.disconnect();
  }

  private connect(url: string): Redis {
    const redis = new Redis(url, {
      connectTimeout: 5000,
      commandTimeout: REDIS_TIMEOUT,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(50 * attempt, 1000),
    });
    redis.on('error', this.reportUnavailable);
    return redis;
  }

  /** Counts in Redis; `undefined` if there is none, or if it is unavailable. */
  private async countInRedis(clientID: string): Promise<WindowState | undefined> {
    if (!this.limiter || performance.now() < this.retryAt) return undefined;
    try {
      const { consumedPoints, msBeforeNext } = await this.limiter.consume(clientID);
      if (this.isUnavailable) this.logger.log('Redis is back, the instances count together');
      this.isUnavailable = false;
      return { count: consumedPoints, milliseconds: msBeforeNext };
    } catch (error) {
      // Otherwise every request would wait for the timeout.
      this.retryAt = performance.now() + REDIS_RETRY_DELAY;
      this.reportUnavailable(error as NodeJS.ErrnoException);
      return undefined;
    }
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
