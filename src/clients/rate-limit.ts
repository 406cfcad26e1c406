import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Redis } from 'ioredis';
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  type RateLimiterRes,
} from 'rate-limiter-flexible';

/** Seconds of a window, which begins with a client's first request in it. */
const WINDOW = 60;
/** Milliseconds that Redis is waited for; then the request is counted here. */
const REDIS_TIMEOUT = 200;
/** The limiter refuses nobody by itself: each client has a limit of its own. */
const points = Number.MAX_SAFE_INTEGER;

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
  private readonly limiter: RateLimiterAbstract;
  private readonly redis: Redis | undefined;

  /**
   * @param standard requests a minute of a client for which nothing else is set; 0 for no limit
   * @param redisUrl of the Redis that counts for all instances
   */
  constructor(
    private readonly standard: number,
    redisUrl: string | undefined,
  ) {
    const memory = new RateLimiterMemory({ points, duration: WINDOW });
    this.redis = redisUrl === undefined ? undefined : this.connect(redisUrl);
    this.limiter = this.redis
      ? new RateLimiterRedis({
          storeClient: this.redis,
          rejectIfRedisNotReady: true,
          insuranceLimiter: memory,
          keyPrefix: 'catalogue-rate',
          points,
          duration: WINDOW,
        })
      : memory;
  }

  /** Counts a request of a client; `undefined` for one that has no limit. */
  async count(clientID: string, own: number | null): Promise<Window | undefined> {
    const limit = own ?? this.standard;
    if (limit === 0) return undefined;
    const counted: RateLimiterRes = await this.limiter.consume(clientID);
    const reset = Math.max(1, Math.ceil(counted.msBeforeNext / 1000));
    return { limit, left: limit - counted.consumedPoints, reset };
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
    let away = false;
    // Once, not at every try; the address may hold a password.
    redis.on('error', (error: NodeJS.ErrnoException) => {
      if (!away) {
        this.logger.warn(
          `Redis is away, each instance counts for itself: ${error.code ?? error.name}`,
        );
      }
      away = true;
    });
    redis.on('ready', () => {
      if (away) this.logger.log('Redis is back, the instances count together');
      away = false;
    });
    return redis;
  }
}
