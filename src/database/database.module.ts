import { type DynamicModule, Module, type OnApplicationShutdown } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Settings } from '../settings/settings.js';
import { databaseOptions } from './options.js';
import { ReadPool } from './read-pool.js';
import { Replicas } from './replicas.js';
import { Upkeep } from './upkeep.js';

/** The application's data source. It has every entity that a module names with `forFeature`. */
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(private readonly replicas: Replicas) {}

  /** @param url of the primary, which is the embedded server's where the settings have none */
  static forRoot(url: string, settings: Settings): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRoot({
          ...databaseOptions(url, settings),
          autoLoadEntities: true,
          retryAttempts: 0,
        }),
      ],
      providers: [
        { provide: Upkeep, useFactory: () => new Upkeep(url) },
        { provide: Replicas, useFactory: () => new Replicas(url, settings) },
        {
          provide: ReadPool,
          inject: [DataSource, Replicas],
          useFactory: (dataSource: DataSource, replicas: Replicas) =>
            new ReadPool(dataSource, settings.replicaUrls.length > 0 ? replicas : undefined),
        },
      ],
      exports: [ReadPool, Replicas, Upkeep],
    };
  }

  /** Called when every request is answered. */
  onApplicationShutdown(): Promise<void> {
    return this.replicas.close();
  }
}
