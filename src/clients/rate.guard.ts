import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  Logger,
  type OnModuleDestroy,
} from '@nestjs/common';
import type { Response } from 'express';
import { Redis } from 'ioredis';
import type { CatalogueRequest } from '../http/catalogue-request.js';
import { Settings } from '../settings/settings.js';
import { FixedWindows, limitExceeded, wholeSeconds, type WindowState } from './fixed-windows.js';

/** Length of a window in milliseconds. It begins with the first request of a client. */
const WINDOW = 60_000;
/** Milliseconds that Redis has to respond. After that, the request is counted in memory. */
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

/**
 * Counts the requests of each client per minute: all instances in Redis, or each by itself while there is none. Rejects
 * those over the client's limit with `-40`, and sets the `X-RateLimit-*` headers.
 */
@Injectable()
export class RateGuard implements CanActivate, OnModuleDestroy {
  private readonly logger = new Logger('RateLimit');
  private readonly memory = new FixedWindows(WINDOW);
  private readonly redis: Redis | undefined;
  private isUnavailable = false;
  /** `performance.now()` value before which Redis is not tried again. */
  private retryAt = -Infinity;

  constructor(private readonly settings: Settings) {
    if (settings.redisUrl === undefined) return;
    this.redis = new Redis(settings.redisUrl, {
      connectTimeout: 5000,
      commandTimeout: REDIS_TIMEOUT,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(50 * attempt, 1000),
    });
    this.redis.on('error', this.reportUnavailable);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const { client } = http.getRequest<CatalogueRequest>();
    const limit = client?.rateLimit ?? this.settings.rateLimit;
    if (!client || limit === 0) return true;
    const { count, milliseconds } =
      (await this.countInRedis(client.clientID)) ?? this.memory.count(client.clientID);
    const response = http.getResponse<Response>();
    response.setHeader('X-RateLimit-Limit', limit);
    response.setHeader('X-RateLimit-Remaining', Math.max(0, limit - count));
    response.setHeader('X-RateLimit-Reset', wholeSeconds(milliseconds));
    if (count > limit) throw limitExceeded(limit, milliseconds);
    return true;
  }

  onModuleDestroy(): void {
    this.redis?.disconnect();
  }

  /** Counts in Redis; `undefined` if there is none, or if it is unavailable. */
  private async countInRedis(clientID: string): Promise<WindowState | undefined> {
    if (!this.redis || performance.now() < this.retryAt) return undefined;
    try {
      const key = `catalogue-rate:${clientID}`;
      const result = await this.redis.eval(COUNT, 1, key, WINDOW);
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

  /** Logs once that Redis is unavailable, without the message, which may contain a password. */
  private readonly reportUnavailable = ({ code, name, message }: NodeJS.ErrnoException): void => {
    if (this.isUnavailable) return;
    this.isUnavailable = true;
    // Error replies of Redis begin with a code in capitals, such as OOM.
    const [reason = name] = /^[A-Z]{2,}\b|timed out/.exec(message) ?? [];
    this.logger.warn(`Redis is away, each instance counts for itself: ${code ?? reason}`);
  };
}
