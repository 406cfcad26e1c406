import type { Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import request, { type Test } from 'supertest';
import { DataSource } from 'typeorm';
import { type Create, createApplication } from '../application.js';
import { type ClientOptions, ClientsService } from '../clients/clients.service.js';
import { resourcesOf } from '../resource/resource.js';
import { Settings } from '../settings/settings.js';
import { createDatabase, type TestDatabase } from './database.js';
import { imported } from './load-rows.js';

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

export interface StartOptions {
  /** Overrides the settings for tests. The database of a `DATABASE_URL` must be migrated. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Modules in addition to that of the project, such as a test resource. */
  readonly extraModules?: Type[];
  /** Creates the application, such as with providers overridden. Default: as in production. */
  readonly create?: Create;
}

/**
 * Starts the service with a client.
 *
 * @param module the module that imports those of the resources
 * @param options what differs from production
 */
export async function startService(
  module: Type,
  { environment = {}, extraModules = [], create }: StartOptions = {},
): Promise<Service> {
  // Jest compiles the sources.
  const project = { module, folder: resolve('src') };
  const { DATABASE_URL: given } = environment;
  const database = given
    ? { url: given, drop: () => Promise.resolve() }
    : await createDatabase({ project });
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
    project,
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
