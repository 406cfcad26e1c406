import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { CatalogueRequest } from '../http/catalogue-request.js';
import { errors } from '../http/errors.js';
import { RateLimit } from './rate-limit.js';

/** Rejects requests over a client's limit with `-40`, and sets the `X-RateLimit-*` headers. */
@Injectable()
export class RateGuard implements CanActivate {
  constructor(private readonly rateLimit: RateLimit) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const { client } = http.getRequest<CatalogueRequest>();
    if (!client) return true;
    const window = await this.rateLimit.count(client.clientID, client.rateLimit);
    if (!window) return true;
    const { limit, left, reset } = window;
    const response = http.getResponse<Response>();
    response.setHeader('X-RateLimit-Limit', limit);
    response.setHeader('X-RateLimit-Remaining', Math.max(0, left));
    response.setHeader('X-RateLimit-Reset', reset);
    if (left >= 0) return true;
    throw errors.limitExceeded(String(limit)).withHeaders({ 'Retry-After': String(reset) });
  }
}
