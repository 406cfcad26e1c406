import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessToken } from './access-token.entity.js';
import { Client } from './client.entity.js';
import { ClientReader } from './client-reader.js';
import { ClientsService } from './clients.service.js';
import { KnownClients } from './known-clients.js';

@Module({
  imports: [TypeOrmModule.forFeature([Client, AccessToken])],
  providers: [ClientReader, ClientsService, KnownClients],
  exports: [ClientsService, KnownClients],
})
export class ClientsModule {}
