import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { databaseOptions } from './options.js';

/** The application's data source; every entity that a module names with `forFeature` is in it. */
@Module({})
export class DatabaseModule {
  static on(url: string, options: { poolSize: number; queryTimeout: number }): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRoot({
          ...databaseOptions(url, options),
          autoLoadEntities: true,
          retryAttempts: 0,
        }),
      ],
    };
  }
}
