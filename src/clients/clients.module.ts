import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessToken } from './access-token.entity.js';
import { Client } from './client.entity.js';
import { ClientCache } from './client-cache.js';
import { ClientReader } from './client-reader.js';
import { ClientsService } from './clients.service.js';
import { FailedLogins } from './failed-logins.js';
import { RateLimit } from './rate-limit.js';

/** Authentication of clients, and the limits of each client. */
@Module({
  imports: [TypeOrmModule.forFeature([Client, AccessToken])],
  providers: [ClientCache, ClientReader, ClientsService, FailedLogins, RateLimit],
  exports: [ClientCache, ClientsService, FailedLogins, RateLimit],
})
export class ClientsModule {}
