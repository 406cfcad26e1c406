import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessToken, Client } from './client.entity.js';
import { ClientCache } from './client-cache.js';
import { ClientsService } from './clients.service.js';

/** Clients and their tokens. */
@Module({
  imports: [TypeOrmModule.forFeature([Client, AccessToken])],
  providers: [ClientCache, ClientsService],
  exports: [ClientCache, ClientsService],
})
export class ClientsModule {}
