import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import type { Response } from 'express';
import type { CatalogueRequest } from '../http/request.js';
import { limitKey } from '../http/client-limits.js';
import { Settings } from '../settings/settings.js';
import { FixedWindows, limitExceeded, RedisWindows, wholeSeconds } from './windows.js';

/**
 * Counts the requests of each client per minute, and of one with a public token those of each address: all instances
 * in Redis, or each by itself while there is none. Rejects those over the client's limit with `-40`, and sets the
 * `X-RateLimit-*` headers.
 */
@Injectable()
export class RateGuard implements CanActivate, OnModuleInit, OnModuleDestroy {
  private readonly memory = new FixedWindows();
  private redis: RedisWindows | undefined;

  constructor(private readonly settings: Settings) {}

  async onModuleInit(): Promise<void> {
    const { redisUrl } = this.settings;
    if (redisUrl !== undefined) this.redis = await RedisWindows.connect(redisUrl);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<CatalogueRequest>();
    const { client, waited } = request;
    const limit = client?.rateLimit ?? this.settings.rateLimit;
    // A request that has waited was counted when it came.
    if (!client || limit === 0 || waited) return true;
    const key = limitKey(request);
    const { count, milliseconds } = (await this.redis?.count(key)) ?? this.memory.count(key);
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
}
