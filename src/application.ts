import 'reflect-metadata';
import { ConsoleLogger, type LogLevel, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { EnvelopedExpressAdapter } from './http/enveloped-express.adapter.js';
import type { Settings } from './settings.js';

/**
 * The service on a migrated database, not yet listening.
 *
 * @param more resources beside those of `AppModule`
 */
export async function createApplication(
  databaseUrl: string,
  settings: Settings,
  more: Type[] = [],
): Promise<NestExpressApplication> {
  const adapter = new EnvelopedExpressAdapter();
  if (settings.trustProxy !== undefined) adapter.set('trust proxy', settings.trustProxy);
  const application = await NestFactory.create<NestExpressApplication>(
    AppModule.on(databaseUrl, settings, more),
    adapter,
    {
      abortOnError: false,
      bodyParser: false,
      // Nest tells of every module and route that it found: that is for whoever debugs.
      logger: new ConsoleLogger({ logLevels: bootLevels(settings), json: !process.stdout.isTTY }),
    },
  );
  await application.init();
  application.useLogger(
    new ConsoleLogger({ logLevels: levels(settings), json: !process.stdout.isTTY }),
  );
  return application;
}

function levels({ logLevel }: Settings): LogLevel[] {
  const all: LogLevel[] = ['fatal', 'error', 'warn', 'log', 'debug'];
  return all.slice(0, { error: 2, warn: 3, info: 4, debug: 5 }[logLevel]);
}

function bootLevels(settings: Settings): LogLevel[] {
  return settings.logLevel === 'debug' ? levels(settings) : levels(settings).slice(0, 3);
}
