import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { ClientsModule } from './clients/clients.module.js';
import { CredentialsGuard } from './clients/credentials.guard.js';
import { RateGuard } from './clients/rate.guard.js';
import { DatabaseModule } from './database/database.module.js';
import { DeclarationCheck } from './declarations/declaration-check.js';
import { ClientConcurrency } from './http/client-limits.js';
import { ErrorFilter } from './http/error.filter.js';
import { OptionsResponder } from './http/options-responder.js';
import { ParametersGuard, ParametersPipe } from './http/parameters/validation.js';
import { ListModule } from './list/list.module.js';
import { RightsGuard } from './list/rights.guard.js';
import { AnswerInterceptor } from './list/serving/answer.interceptor.js';
import { migrationsOf, type Project } from './project.js';
import { Settings } from './settings/settings.js';

/** Makes the settings injectable everywhere. */
@Module({})
class SettingsModule {}

/**
 * The root of every application. It imports the module of the project, so that what is applied to every request is
 * the same in each project, and comes before what the project adds.
 */
@Module({
  imports: [ClientsModule],
  providers: [
    DeclarationCheck,
    // Applied to every request, in this order.
    CredentialsGuard,
    { provide: APP_GUARD, useExisting: CredentialsGuard },
    { provide: APP_GUARD, useClass: RateGuard },
    { provide: APP_GUARD, useClass: RightsGuard },
    { provide: APP_GUARD, useClass: ParametersGuard },
    { provide: APP_INTERCEPTOR, useClass: AnswerInterceptor },
    ClientConcurrency,
    OptionsResponder,
    ParametersPipe,
    { provide: APP_PIPE, useExisting: ParametersPipe },
    { provide: APP_FILTER, useClass: ErrorFilter },
  ],
})
export class CatalogueModule {
  /**
   * The application on a migrated database.
   *
   * @param url the URL of the database; that of the embedded one if the settings have none
   * @param extraModules modules in addition to that of the project
   */
  static async forRoot(
    project: Project,
    url: string,
    settings: Settings,
    extraModules: Type[] = [],
  ): Promise<DynamicModule> {
    return {
      module: CatalogueModule,
      imports: [
        {
          module: SettingsModule,
          global: true,
          providers: [{ provide: Settings, useValue: settings }],
          exports: [Settings],
        },
        DatabaseModule.forRoot(url, settings, await migrationsOf(project)),
        ListModule.forRoot(),
        project.module,
        ...extraModules,
      ],
    };
  }
}
