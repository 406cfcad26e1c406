import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { CatalogueRequest } from '../http/catalogue-request.js';
import { limitExceeded, wholeSeconds } from './fixed-windows.js';
import { RateLimit } from './rate-limit.js';

/** Rejects requests over a client's limit with `-40`, and sets the `X-RateLimit-*` headers. */
@Injectable()
export class RateGuard implements CanActivate {
  constructor(private readonly rateLimit: RateLimit) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const { client } = http.getRequest<CatalogueRequest>();
    const window = client && (await this.rateLimit.count(client.clientID, client.rateLimit));
    if (!window) return true;
    const { limit, remaining, milliseconds } = window;
    const response = http.getResponse<Response>();
    response.setHeader('X-RateLimit-Limit', limit);
    response.setHeader('X-RateLimit-Remaining', Math.max(0, remaining));
    response.setHeader('X-RateLimit-Reset', wholeSeconds(milliseconds));
    if (remaining < 0) throw limitExceeded(limit, milliseconds);
    return true;
  }
}
