import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { MigrationClass } from '../project.js';
import { Settings } from '../settings/settings.js';
import { databaseOptions } from './database-client.js';
import { primaryPool } from '../private-api/database.js';
import { Primary } from './primary.js';
import { ReadPool } from './read-pool.js';
import { Replicas } from './replicas.js';
import { ReservedConnections } from './reserved-connections.js';
import { SchemaDoubt } from './schema-doubt.js';

/** The application's data source, with every entity that a module registers by `forFeature`. */
@Module({})
export class DatabaseModule {
  /**
   * @param url of the primary; of the embedded server if `DATABASE_URL` is not set
   * @param migrations of the project
   */
  static forRoot(
    url: string,
    settings: Settings,
    migrations: readonly MigrationClass[],
  ): DynamicModule {
    const primary = new Primary(url);
    const { accept } = primary;
    const { poolSize, queryTimeout } = settings;
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRoot({
          ...databaseOptions(url, { poolSize, queryTimeout, onConnect: accept }),
          migrations: [...migrations],
          autoLoadEntities: true,
          retryAttempts: 0,
        }),
      ],
      providers: [
        SchemaDoubt,
        { provide: Primary, useValue: primary },
        { provide: ReservedConnections, useFactory: () => new ReservedConnections(primary) },
        { provide: Replicas, useFactory: () => new Replicas(primary, settings) },
        {
          provide: ReadPool,
          useFactory: (dataSource: DataSource, replicas: Replicas) => {
            primary.watch(primaryPool(dataSource));
            return new ReadPool(dataSource, replicas);
          },
          inject: [DataSource, Replicas],
        },
      ],
      exports: [Primary, ReadPool, Replicas, ReservedConnections, SchemaDoubt],
    };
  }
}
