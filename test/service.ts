import type { Type } from '@nestjs/common';
import type { Create } from '#server/application.js';
import * as testing from '#server/testing/service.js';
import { shared } from '#server/testing/shared.js';
import { AppModule } from '../src/app.module.js';

export { refusal, type Service, whileOverloaded } from '#server/testing/service.js';

/**
 * Starts the service of this repository with a client.
 *
 * @param environment overrides the settings for tests; the database of a `DATABASE_URL` must be migrated
 * @param extraModules modules in addition to those of the application, such as a test resource
 */
export function startService(
  environment: NodeJS.ProcessEnv = {},
  ...extraModules: Type[]
): Promise<testing.Service> {
  return testing.startService(AppModule, { environment, extraModules });
}

/** Starts the service as `startService` does, for all tests of a file or of a `describe`. */
export function sharedService(
  environment: NodeJS.ProcessEnv = {},
  ...extraModules: Type[]
): testing.Service {
  return shared(() => startService(environment, ...extraModules));
}

/** Starts the service as `startService` does, with an application that a test creates. */
export function startServiceBy(
  create: Create | undefined,
  environment: NodeJS.ProcessEnv = {},
  ...extraModules: Type[]
): Promise<testing.Service> {
  return testing.startService(AppModule, { environment, extraModules, create });
}
