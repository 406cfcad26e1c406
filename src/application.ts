import 'reflect-metadata';
import { ConsoleLogger, type LogLevel, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { REQUESTS_PER_CONNECTION } from './database/read-pool.js';
import { DEMO_CLIENT, DEMO_TOKEN } from './demo/load-demonstration.js';
import { EnvelopedExpressAdapter } from './http/server/enveloped-express.adapter.js';
import { connectionLimits } from './http/server/connection-limits.js';
import { Cors } from './http/server/cors.js';
import { StreamLimit } from './list/serving/stream-limit.js';
import { Maintenance } from './list/maintenance.js';
import { publishDocumentation } from './openapi/public-pages.js';
import { Metrics } from './operations/metrics.js';
import { OperationsModule } from './operations/operations.module.js';
import { OperatorEndpoints } from './operations/operator-endpoints.js';
import { RequestLog } from './operations/request-log.js';
import type { Settings } from './settings/settings.js';

/**
 * Creates the service on a migrated database. It is not listening yet.
 *
 * @param extraModules modules in addition to those of `AppModule`
 * @throws CommandError for declarations that no list can follow
 */
export async function createApplication(
  databaseUrl: string,
  settings: Settings,
  extraModules: Type[] = [],
): Promise<NestExpressApplication> {
  const pools = 1 + settings.replicaUrls.length;
  const adapter = new EnvelopedExpressAdapter(
    REQUESTS_PER_CONNECTION * settings.poolSize,
    connectionLimits(pools * settings.poolSize).service,
    new Cors(settings.corsOrigins),
  );
  if (settings.trustProxy !== undefined) adapter.set('trust proxy', settings.trustProxy);
  const application = await NestFactory.create<NestExpressApplication>(
    AppModule.forRoot(databaseUrl, settings, [OperationsModule, ...extraModules]),
    adapter,
    {
      abortOnError: false,
      bodyParser: false,
      // Nest logs every module and route at `info`, which is needed for debugging only.
      logger: new ConsoleLogger({ logLevels: bootLevels(settings), json: !process.stdout.isTTY }),
    },
  );
  adapter.addPublicRoutes = (express) => {
    // Only the embedded database has a client with a public token.
    const credentials =
      settings.databaseUrl === undefined
        ? { clientID: DEMO_CLIENT, accessToken: DEMO_TOKEN }
        : undefined;
    publishDocumentation(express, application, settings, credentials);
  };
  try {
    await application.init();
  } catch (error) {
    // Open connections would keep the process.
    await application.close();
    throw error;
  }
  observe(application, adapter, settings);
  application.useLogger(
    new ConsoleLogger({ logLevels: levels(settings), json: !process.stdout.isTTY }),
  );
  return application;
}

/** Reports every request to the metrics and, at log level `info`, to the log. */
function observe(
  application: NestExpressApplication,
  adapter: EnvelopedExpressAdapter,
  settings: Settings,
): void {
  const metrics = application.get(Metrics);
  metrics.addTallyMaintenance(application.get(Maintenance));
  metrics.addRequests(adapter, application.get(StreamLimit));
  const log = levels(settings).includes('log') && new RequestLog(!process.stdout.isTTY);
  adapter.observe = (observation) => {
    metrics.observe(observation);
    if (log) log.write(observation);
  };
  // With an admin port, these endpoints have a server of their own.
  if (settings.adminPort !== undefined) return;
  const endpoints = application.get(OperatorEndpoints);
  adapter.handleOperatorRequest = (request, response, parseError) =>
    endpoints.handle(request, response, parseError);
}

function levels({ logLevel }: Settings): LogLevel[] {
  const all: LogLevel[] = ['fatal', 'error', 'warn', 'log', 'debug'];
  return all.slice(0, { error: 2, warn: 3, info: 4, debug: 5 }[logLevel]);
}

function bootLevels(settings: Settings): LogLevel[] {
  return settings.logLevel === 'debug' ? levels(settings) : levels(settings).slice(0, 3);
}
