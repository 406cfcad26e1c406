import 'reflect-metadata';
import type { DynamicModule, NestApplicationOptions, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { CatalogueModule } from './catalogue.module.js';
import { CredentialsGuard } from './clients/credentials.guard.js';
import { DEMO_CLIENT, DEMO_TOKEN } from './demo/load-demonstration.js';
import {
  EnvelopedExpressAdapter,
  type ServerHooks,
} from './http/server/enveloped-express.adapter.js';
import { connectionLimits } from './http/server/connections.js';
import { endpointsOf } from './http/endpoints.js';
import { Cors } from './http/server/cors.js';
import { facetEndpoints } from './list/facets/facet-endpoints.js';
import { publishDocumentation } from './openapi/public-pages.js';
import { Metrics } from './operations/metrics.js';
import { OperationsModule, TRACING } from './operations/operations.module.js';
import { OperatorEndpoints } from './operations/operator-endpoints.js';
import { RequestLog, ServiceLogger } from './operations/log.js';
import type { Tracing } from './operations/tracing.js';
import type { Project } from './project.js';
import type { Settings } from './settings/settings.js';

/** Creates an application as Nest does, which is not initialised. */
export type Create = (
  module: DynamicModule,
  adapter: EnvelopedExpressAdapter,
  options: NestApplicationOptions,
) => Promise<NestExpressApplication>;

const createByNest: Create = (...of) => NestFactory.create<NestExpressApplication>(...of);

/**
 * Creates the service on a migrated database. It is not listening yet.
 *
 * @param extraModules modules in addition to that of the project
 * @param create lets a test override providers
 * @throws CommandError for declarations that no list can follow
 */
export async function createApplication(
  project: Project,
  databaseUrl: string,
  settings: Settings,
  extraModules: Type[] = [],
  create = createByNest,
): Promise<NestExpressApplication> {
  const pools = 1 + settings.replicaUrls.length;
  const adapter = new EnvelopedExpressAdapter(
    settings.poolSize,
    connectionLimits(pools * settings.poolSize).service,
    new Cors(settings.corsOrigins),
  );
  if (settings.trustProxy !== undefined) adapter.set('trust proxy', settings.trustProxy);
  const modules = [OperationsModule, ...extraModules];
  const root = await CatalogueModule.forRoot(project, databaseUrl, settings, modules);
  const application = await create(root, adapter, {
    abortOnError: false,
    bodyParser: false,
    // Nest logs every module and route at `info`, which is needed for debugging only.
    logger: new ServiceLogger(settings.logLevel === 'info' ? 'warn' : settings.logLevel),
  });
  try {
    adapter.attach(hooksOf(application, settings));
    await project.configure?.(application);
    await application.init();
  } catch (error) {
    // Open connections would keep the process.
    await application.close();
    throw error;
  }
  application.useLogger(new ServiceLogger(settings.logLevel));
  return application;
}

/** Reports every request to the metrics, the log, and the traces if there are any, and adds what needs no credentials. */
function hooksOf(application: NestExpressApplication, settings: Settings): ServerHooks {
  const metrics = application.get(Metrics);
  const log = new RequestLog(settings.logLevel);
  const tracing = application.get<Tracing | null>(TRACING);
  const endpoints = application.get(OperatorEndpoints);
  const facets = facetEndpoints(endpointsOf(application));
  return {
    slowAfter: settings.slowList || Infinity,
    observe: (observation) => {
      metrics.observe(observation);
      log.write(observation);
    },
    ...(tracing && { beginTrace: (request) => tracing.begin(request) }),
    // With an admin port, these endpoints have a server of their own.
    ...(settings.adminPort === undefined && {
      handleOperatorRequest: (...of) => endpoints.handle(...of),
    }),
    furtherPaths: new Map(facets.map((each) => [each.list.path, each.facets])),
    addPublicRoutes: (express) => {
      // Only the embedded database has a client with a public token.
      const credentials =
        settings.databaseUrl === undefined
          ? { clientID: DEMO_CLIENT, accessToken: DEMO_TOKEN }
          : undefined;
      publishDocumentation(express, application, settings, credentials, (request) =>
        application.get(CredentialsGuard).authenticate(request),
      );
    },
  };
}
