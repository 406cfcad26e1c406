import { fileURLToPath } from 'node:url';
import { DataSource, type EntityManager } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { AccessToken } from '../clients/access-token.entity.js';
import { Client } from '../clients/client.entity.js';
import { hashOf } from '../clients/token.js';
import { databaseOptions } from '../database/options.js';
import { type FileRow, rowsOf } from '../import/file-rows.js';
import { importRows } from '../import/import-rows.js';
import { openSource, textOf } from '../import/source.js';
import { ownResources } from '../resource/own-table.js';

export const DEMO_CLIENT = 'demo';
export const DEMO_TOKEN = 'demo-token';

/** The clients of the demonstration, whose tokens everybody knows. */
const DEMO_CLIENTS = [
  { clientID: DEMO_CLIENT, token: DEMO_TOKEN, name: 'The demonstration', isPublic: false },
  { clientID: 'shop', token: 'shop-token', name: 'The example of a storefront', isPublic: true },
];

/** The resources of the demonstration catalogue, in an order that satisfies references. */
export const DEMO_RESOURCES = ['brands', 'categories', 'products', 'variants'] as const;

/**
 * Loads the demonstration catalogue and its clients in one transaction, once, however long that takes. A catalogue that
 * already has objects gets the clients alone.
 *
 * @param application that of the service, whose statements have the time limit of requests
 * @throws CommandError if a file of the catalogue cannot be read
 */
export async function loadDemonstration(application: DataSource): Promise<void> {
  const { url = '', entities } = application.options as PostgresDataSourceOptions;
  const dataSource = await new DataSource({ ...databaseOptions(url), entities }).initialize();
  try {
    await dataSource.transaction(load);
  } finally {
    await dataSource.destroy();
  }
}

async function load(manager: EntityManager): Promise<void> {
  if (await manager.existsBy(Client, { clientID: DEMO_CLIENT })) return;
  const { queryRunner, dataSource } = manager;
  const resources = ownResources(dataSource);
  let isNew = true;
  for (const { target } of resources.values()) isNew &&= !(await manager.exists(target));
  for (const resource of isNew ? DEMO_RESOURCES : []) {
    const metadata = resources.get(resource);
    if (!queryRunner || !metadata) throw new TypeError(`There is no resource ${resource}`);
    const options = { map: new Map(), set: new Map(), replace: false };
    await importRows(queryRunner, metadata, demoRows(resource), options);
  }
  for (const { token, ...client } of DEMO_CLIENTS) {
    const { clientID } = client;
    await manager.insert(Client, client);
    await manager.insert(AccessToken, { tokenID: clientID, clientID, hash: hashOf(token) });
  }
}

/** The clients of the demonstration whose tokens, which everybody knows, are accepted. */
export async function openDemonstration(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.query<{ clientID: string }[]>(
    `SELECT "clientID" FROM access_tokens JOIN clients USING ("clientID")
     WHERE hash = ANY ($1) AND NOT disabled AND ("expiresAt" IS NULL OR "expiresAt" > now())
     ORDER BY "clientID"`,
    [DEMO_CLIENTS.map(({ token }) => hashOf(token))],
  );
  return rows.map(({ clientID }) => clientID);
}

/** The rows of `demo/<resource>.csv`, in batches. `catalogue import` reads the same files. */
export async function* demoRows(
  resource: (typeof DEMO_RESOURCES)[number],
): AsyncGenerator<FileRow[]> {
  // The path is the same from src/demo and from dist/demo.
  const file = fileURLToPath(new URL(`../../demo/${resource}.csv`, import.meta.url));
  yield* rowsOf('csv', textOf((await openSource(file)).stream));
}
