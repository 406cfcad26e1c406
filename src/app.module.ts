import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { BrandsModule } from './brands/brands.module.js';
import { CategoriesModule } from './categories/categories.module.js';
import { ClientsModule } from './clients/clients.module.js';
import { ClientRequests, ConcurrencyInterceptor } from './clients/concurrency.interceptor.js';
import { CredentialsGuard } from './clients/credentials.guard.js';
import { FailedLogins } from './clients/failed-logins.js';
import { RateGuard } from './clients/rate.guard.js';
import { RateLimit } from './clients/rate-limit.js';
import { DatabaseModule } from './database/database.module.js';
import { EnvelopeInterceptor } from './list/serving/list.interceptor.js';
import { ErrorFilter } from './http/error.filter.js';
import { PageCache } from './list/serving/page-cache.js';
import { ParametersGuard } from './http/parameters/parameters.guard.js';
import { ParametersPipe } from './http/parameters/parameters.pipe.js';
import { ReadTurns } from './list/serving/read-turns.js';
import { StreamLimit } from './list/serving/stream-limit.js';
import { pageSize } from './list/list-query.dto.js';
import { TallyKeeper } from './list/tally/tally-keeper.js';
import { ProductsModule } from './products/products.module.js';
import type { Settings } from './settings/settings.js';

/** What of the settings the application's parts know. */
type ServiceSettings = Pick<Settings, 'maxLimit' | 'pageCache' | 'poolSize' | 'queryTimeout'> &
  Partial<
    Pick<
      Settings,
      | 'failedLogins'
      | 'maxReplicaLag'
      | 'maxRequestsPerClient'
      | 'maxStreamsPerClient'
      | 'rateLimit'
      | 'redisUrl'
      | 'replicaUrls'
      | 'streamTimeout'
    >
  >;

@Module({
  imports: [ClientsModule, ProductsModule, CategoriesModule, BrandsModule],
  // What touches every request, in the order in which it does.
  providers: [
    { provide: APP_GUARD, useClass: CredentialsGuard },
    { provide: APP_GUARD, useClass: RateGuard },
    { provide: APP_GUARD, useClass: ParametersGuard },
    { provide: APP_INTERCEPTOR, useClass: ConcurrencyInterceptor },
    { provide: APP_INTERCEPTOR, useClass: EnvelopeInterceptor },
    ParametersPipe,
    { provide: APP_PIPE, useExisting: ParametersPipe },
    { provide: APP_FILTER, useClass: ErrorFilter },
  ],
})
export class AppModule {
  /** The application on a database that is migrated, with more resources beside its own. */
  static on(databaseUrl: string, settings: ServiceSettings, more: Type[] = []): DynamicModule {
    pageSize.most = settings.maxLimit;
    const { poolSize, maxRequestsPerClient = Infinity, maxStreamsPerClient = Infinity } = settings;
    // The other half of the connections is left to pages, and to other clients.
    const halfOfPool = Math.ceil(poolSize / 2);
    const streamLimits = {
      total: halfOfPool,
      perClient: maxStreamsPerClient,
      timeout: settings.streamTimeout ?? 0,
    };
    return {
      module: AppModule,
      imports: [DatabaseModule.on(databaseUrl, settings), ...more],
      providers: [
        TallyKeeper,
        { provide: PageCache, useValue: new PageCache(settings.pageCache) },
        { provide: StreamLimit, useValue: new StreamLimit(streamLimits) },
        { provide: ReadTurns, useValue: new ReadTurns(halfOfPool) },
        { provide: ClientRequests, useValue: new ClientRequests(maxRequestsPerClient) },
        { provide: FailedLogins, useValue: new FailedLogins(settings.failedLogins ?? 0) },
        {
          provide: RateLimit,
          useFactory: () => new RateLimit(settings.rateLimit ?? 0, settings.redisUrl),
        },
      ],
    };
  }
}
