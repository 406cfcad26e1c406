import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { CatalogueRequest } from '../http/catalogue-request.js';
import { RateLimit } from './rate-limit.js';

/** Rejects requests over a client's limit with `-40`, and sets the `X-RateLimit-*` headers. */
@Injectable()
export class RateGuard implements CanActivate {
  constructor(private readonly rateLimit: RateLimit) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const { client } = http.getRequest<CatalogueRequest>();
    if (client) await this.rateLimit.admit(client, http.getResponse<Response>());
    return true;
  }
}
