import { type DynamicModule, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { Settings } from '../settings/settings.js';
import { databaseOptions } from './options.js';
import { readFrom } from './reading.js';
import { Replicas } from './replicas.js';
import { Upkeep } from './upkeep.js';

type DatabaseSettings = Pick<Settings, 'poolSize' | 'queryTimeout'> &
  Partial<Pick<Settings, 'replicaUrls' | 'maxReplicaLag'>>;

/** The application's data source; every entity that a module names with `forFeature` is in it. */
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(Replicas) private readonly replicas: Replicas) {}

  static on(url: string, settings: DatabaseSettings): DynamicModule {
    const { replicaUrls = [], maxReplicaLag = 0 } = settings;
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
        {
          provide: Replicas,
          inject: [DataSource],
          useFactory: (dataSource: DataSource) => {
            const replicas = new Replicas(url, replicaUrls, maxReplicaLag, settings);
            if (replicaUrls.length > 0) readFrom(dataSource, replicas);
            return replicas;
          },
        },
      ],
      exports: [Replicas, Upkeep],
    };
  }

  // With every request answered.
  onApplicationShutdown(): Promise<void> {
    return this.replicas.close();
  }
}
