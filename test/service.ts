import type { Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import request, { type Test } from 'supertest';
import { DataSource } from 'typeorm';
import { type Create, createApplication } from '../src/application.js';
import { ClientsService } from '../src/clients/clients.service.js';
import { rowsOf } from '../src/import/file-rows.js';
import { importRows } from '../src/import/import-rows.js';
import { resourcesOf } from '../src/resource/resource.js';
import { Settings } from '../src/settings/settings.js';
import { createDatabase, type TestDatabase } from './database/database.js';

/** The service as in production, listening, with a database of its own. */
export interface Service {
  readonly application: NestExpressApplication;
  readonly dataSource: DataSource;
  readonly database: TestDatabase;
  readonly port: number;
  readonly clientID: string;
  readonly token: string;
  /** A GET with credentials in the headers. */
  get(path: string): Test;
  /** A request without credentials. */
  anonymous(): ReturnType<typeof request>;
  /** Loads objects as an import does. */
  load(resource: string, objects: Record<string, unknown>[]): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the service with a client.
 *
 * @param environment overrides the settings for tests; the database of a `DATABASE_URL` must be migrated
 * @param extraModules modules in addition to those of the application, such as a test resource
 */
export function startService(
  environment: NodeJS.ProcessEnv = {},
  ...extraModules: Type[]
): Promise<Service> {
  return startServiceBy(undefined, environment, ...extraModules);
}

/** Starts the service as `startService` does, with an application that a test creates. */
export async function startServiceBy(
  create: Create | undefined,
  environment: NodeJS.ProcessEnv = {},
  ...extraModules: Type[]
): Promise<Service> {
  const { DATABASE_URL: given } = environment;
  const database = given ? { url: given, drop: () => Promise.resolve() } : await createDatabase();
  const settings = Object.assign(
    new Settings({
      LOG_LEVEL: 'error',
      RATE_LIMIT_PER_MINUTE: '0',
      FAILED_LOGINS_PER_MINUTE: '0',
      DATABASE_URL: database.url,
      ...environment,
    }),
    // Serve health and metrics at the same port, as with the embedded database.
    { adminPort: undefined },
  );
  const application = await createApplication(database.url, settings, extraModules, create);
  await application.listen(0, '127.0.0.1');
  const { port } = application.getHttpServer().address() as AddressInfo;
  const clients = application.get(ClientsService);
  const clientID = 'tester';
  await clients.create(clientID, {});
  const { token } = await clients.issue(clientID, null);
  const dataSource = application.get(DataSource);
  const anonymous = () => request(`http://127.0.0.1:${port}`);
  return {
    application,
    dataSource,
    database,
    port,
    clientID,
    token,
    anonymous,
    get: (path) =>
      anonymous().get(path).set('X-Client-ID', clientID).set('Authorization', `Bearer ${token}`),
    load: (resource, objects) => load(dataSource, resource, objects),
    stop: async () => {
      await application.close();
      await database.drop();
    },
  };
}

async function load(
  dataSource: DataSource,
  resource: string,
  objects: Record<string, unknown>[],
): Promise<void> {
  const metadata = resourcesOf(dataSource).get(resource);
  if (!metadata) throw new Error(`There is no resource ${resource}`);
  const lines = objects.map((object) => JSON.stringify(object)).join('\n');
  await dataSource.transaction(async ({ queryRunner }) => {
    if (!queryRunner) throw new Error('A transaction has a query runner');
    const options = { map: new Map(), set: new Map(), replace: false };
    await importRows(queryRunner, metadata, rowsOf('ndjson', Readable.from([lines])), options);
  });
}

/** Lets the service respond to every request with `-4` during `work`. */
export async function whileOverloaded<T>(
  { application }: Service,
  work: () => Promise<T>,
): Promise<T> {
  const { admission } = application.getHttpAdapter() as unknown as {
    admission: { maximum: number };
  };
  const { maximum } = admission;
  admission.maximum = 0;
  try {
    return await work();
  } finally {
    admission.maximum = maximum;
  }
}

/** The envelope of an error response. */
export function refusal(errcode: number, msg: string): object {
  return { result: { status: 'ERROR', errcode: String(errcode), msg } };
}
