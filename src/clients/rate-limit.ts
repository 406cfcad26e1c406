import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Redis } from 'ioredis';
import { type RateLimiterAbstract, RateLimiterRedis } from 'rate-limiter-flexible';
import { type Counted, FixedWindows } from './fixed-windows.js';

/** Seconds of a window, which begins with a client's first request in it. */
const WINDOW = 60;
/** Milliseconds that Redis is waited for; then the request is counted here. */
const REDIS_TIMEOUT = 200;
/** Milliseconds for which it is not asked after that. */
const ASIDE = 1000;
/** The limiter refuses nobody by itself: each client has a limit of its own. */
const points = Number.MAX_SAFE_INTEGER;

/**
 * Counts in a window of Redis, and gives the count and the milliseconds until it ends. Redis ends it
 * by the system's clock: where that was set back, the window ends after its length at most.
 */
const COUNT = `
  local count = redis.call('incrby', KEYS[1], ARGV[1])
  local remaining = redis.call('pttl', KEYS[1])
  local length = 1000 * ARGV[2]
  if remaining < 0 or remaining > length then
    redis.call('pexpire', KEYS[1], length)
    remaining = length
  end
  return {count, remaining}`;

/** A client's window after a request was counted in it. */
export interface Window {
  readonly limit: number;
  /** Requests that it has left; below zero where this one was too many. */
  readonly left: number;
  /** Seconds until it ends. */
  readonly reset: number;
}

/**
 * Counts the requests of each client by the minute: in Redis, for all instances together, if there
 * is one, and in memory where there is none or as long as it is away.
 */
@Injectable()
export class RateLimit implements OnModuleDestroy {
  private readonly logger = new Logger(RateLimit.name);
  private readonly memory = new FixedWindows(1000 * WINDOW);
  private readonly redis: Redis | undefined;
  private readonly together: RateLimiterAbstract | undefined;
  private isAway = false;
  /** A moment of the monotonic clock until which Redis is not asked. */
  private asideUntil = -Infinity;

  /**
   * @param standard requests a minute of a client for which nothing else is set; 0 for no limit
   * @param redisUrl of the Redis that counts for all instances
   */
  constructor(
    private readonly standard: number,
    redisUrl: string | undefined,
  ) {
    if (redisUrl === undefined) return;
    this.redis = this.connect(redisUrl);
    this.together = new RateLimiterRedis({
      storeClient: this.redis,
      rejectIfRedisNotReady: true,
      keyPrefix: 'catalogue-rate',
      points,
      duration: WINDOW,
      customIncrTtlLuaScript: COUNT,
    });
  }

  /** Counts a request of a client; `undefined` for one that has no limit. */
  async count(clientID: string, own: number | null): Promise<Window | undefined> {
    const limit = own ?? this.standard;
    if (limit === 0) return undefined;
    const counted = (await this.countTogether(clientID)) ?? this.memory.count(clientID);
    const reset = Math.max(1, Math.ceil(counted.remaining / 1000));
    return { limit, left: limit - counted.count, reset };
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
    redis.on('error', this.away);
    return redis;
  }

  /** Counts in Redis; `undefined` where there is none, or it does not answer as it should. */
  private async countTogether(clientID: string): Promise<Counted | undefined> {
    if (!this.together || performance.now() < this.asideUntil) return undefined;
    try {
      const { consumedPoints, msBeforeNext } = await this.together.consume(clientID);
      if (this.isAway) this.logger.log('Redis is back, the instances count together');
      this.isAway = false;
      return { count: consumedPoints, remaining: msBeforeNext };
    } catch (error) {
      // Not every request shall wait for it to find out.
      this.asideUntil = performance.now() + ASIDE;
      this.away(error as NodeJS.ErrnoException);
      return undefined;
    }
  }

  /** Says that it is away: once, not at every try; the address may hold a password. */
  private readonly away = ({ code, name, message }: NodeJS.ErrnoException): void => {
    if (this.isAway) return;
    this.isAway = true;
    // Those of Redis itself begin with a word in capitals, and say nothing of who asked.
    const [reason = name] = /^[A-Z]{2,}\b|timed out/.exec(message) ?? [];
    this.logger.warn(`Redis is away, each instance counts for itself: ${code ?? reason}`);
  };
}
