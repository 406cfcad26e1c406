import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { MigrationClass } from '../project.js';
import { Settings } from '../settings/settings.js';
import { databaseOptions } from './options.js';
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
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRoot({
          ...databaseOptions(url, settings),
          migrations: [...migrations],
          autoLoadEntities: true,
          retryAttempts: 0,
        }),
      ],
      providers: [
        SchemaDoubt,
        { provide: ReservedConnections, useFactory: () => new ReservedConnections(url) },
        { provide: Replicas, useFactory: () => new Replicas(url, settings) },
        {
          provide: ReadPool,
          useFactory: (dataSource: DataSource, replicas: Replicas) =>
            new ReadPool(dataSource, replicas),
          inject: [DataSource, Replicas],
        },
      ],
      exports: [ReadPool, Replicas, ReservedConnections, SchemaDoubt],
    };
  }
}
