import type { Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { AddressInfo } from 'node:net';
import request, { type Test } from 'supertest';
import { DataSource } from 'typeorm';
import { type Create, createApplication } from '#server/application.js';
import { type ClientOptions, ClientsService } from '#server/clients/clients.service.js';
import { resourcesOf } from '#server/resource/resource.js';
import { Settings } from '#server/settings/settings.js';
import { PROJECT } from './project.js';
import { createDatabase, type TestDatabase } from './database/database.js';
import { imported } from './import/imported.js';
import { shared } from './shared.js';

/** The service as in production, listening, with a database of its own. */
export interface Service {
  readonly application: NestExpressApplication;
  readonly dataSource: DataSource;
  readonly database: TestDatabase;
  readonly port: number;
  readonly clientID: string;
  readonly token: string;
  /** Its credentials. */
  readonly headers: Readonly<Record<'X-Client-ID' | 'Authorization', string>>;
  /** A GET with credentials in the headers. */
  get(path: string): Test;
  /** A request without credentials. */
  anonymous(): ReturnType<typeof request>;
  /** The service with the credentials of a new client. */
  newClient(clientID: string, options?: ClientOptions): Promise<Service>;
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

/** Starts the service as `startService` does, for all tests of a file or of a `describe`. */
export function sharedService(
  environment: NodeJS.ProcessEnv = {},
  ...extraModules: Type[]
): Service {
  return shared(() => startService(environment, ...extraModules));
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
  const application = await createApplication(
    PROJECT,
    database.url,
    settings,
    extraModules,
    create,
  );
  await application.listen(0, '127.0.0.1');
  const { port } = application.getHttpServer().address() as AddressInfo;
  const clients = application.get(ClientsService);
  const dataSource = application.get(DataSource);
  const anonymous = () => request(`http://127.0.0.1:${port}`);
  const newClient = async (clientID: string, options: ClientOptions = {}): Promise<Service> => {
    await clients.create(clientID, options);
    const { token } = await clients.issue(clientID, null);
    const headers = { 'X-Client-ID': clientID, Authorization: `Bearer ${token}` };
    return {
      application,
      dataSource,
      database,
      port,
      clientID,
      token,
      headers,
      anonymous,
      get: (path) => anonymous().get(path).set(headers),
      newClient,
      load: (resource, objects) => load(dataSource, resource, objects),
      stop: async () => {
        await application.close();
        await database.drop();
      },
    };
  };
  return newClient('tester');
}

async function load(
  dataSource: DataSource,
  resource: string,
  objects: Record<string, unknown>[],
): Promise<void> {
  const lines = objects.map((object) => JSON.stringify(object)).join('\n');
  const metadata = resourcesOf(dataSource).get(resource);
  if (!metadata) throw new Error(`There is no resource ${resource}`);
  await imported(dataSource, metadata, 'ndjson', [Buffer.from(lines)]);
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
