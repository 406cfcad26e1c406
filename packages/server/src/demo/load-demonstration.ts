import { join } from 'node:path';
import { DataSource, type EntityManager, type EntityMetadata } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { AccessToken, Client } from '../clients/client.entity.js';
import { hashOf } from '../clients/token.js';
import { databaseOptions } from '../database/database-client.js';
import { canWait } from '../import/circle.js';
import { type FileRow, rowsOf } from '../import/file-rows.js';
import { importRows } from '../import/import-rows.js';
import { InvalidRowsError } from '../import/invalid-rows.js';
import { openSource, textOf } from '../import/source.js';
import { CommandError } from '../command-error.js';
import { namesIn, type Project } from '../project.js';
import { ownResources, tableOf } from '../resource/resource.js';

export const DEMO_CLIENT = 'demo';
export const DEMO_TOKEN = 'demo-token';

/** The clients of the demonstration, whose tokens everybody knows. */
const DEMO_CLIENTS = [
  { clientID: DEMO_CLIENT, token: DEMO_TOKEN, name: 'The demonstration', isPublic: false },
  { clientID: 'shop', token: 'shop-token', name: 'The example of a storefront', isPublic: true },
];

/**
 * Loads the demonstration of a project and its clients in one transaction, once, however long that takes. A catalogue that
 * already has objects gets the clients alone.
 *
 * @param application that of the service, whose statements have the time limit of requests
 * @throws CommandError if a file of the demonstration cannot be read, or is of no resource
 */
export async function loadDemonstration(project: Project, application: DataSource): Promise<void> {
  const { url = '', entities } = application.options as PostgresDataSourceOptions;
  const dataSource = await new DataSource({ ...databaseOptions(url), entities }).initialize();
  try {
    await dataSource.transaction((manager) => load(manager, join(project.folder, '../demo')));
  } finally {
    await dataSource.destroy();
  }
}

async function load(manager: EntityManager, folder: string): Promise<void> {
  if (await manager.existsBy(Client, { clientID: DEMO_CLIENT })) return;
  const { queryRunner, dataSource } = manager;
  const resources = ownResources(dataSource);
  let isNew = true;
  for (const { target } of resources.values()) isNew &&= !(await manager.exists(target));
  const first = (isNew ? await demonstrated(folder, resources) : []).map((metadata) => ({
    metadata,
    set: waitingFields(metadata),
  }));
  const again = first
    .filter(({ set }) => set.size > 0)
    .map((each) => ({ ...each, set: new Map() }));
  for (const { metadata, set } of [...first, ...again]) {
    if (!queryRunner) throw new TypeError('A transaction has a connection');
    const options = { map: new Map(), set, replace: false };
    const name = metadata.tableName;
    await importRows(queryRunner, metadata, demoRows(folder, name), options).catch(
      (error: unknown) => {
        if (error instanceof InvalidRowsError)
          error.message = `${join(folder, name)}.csv: ${error.message}`;
        throw error;
      },
    );
    // Near words are known from the first request on.
    await queryRunner.query(`ANALYZE ${tableOf(metadata)}`);
  }
  for (const { token, ...client } of DEMO_CLIENTS) {
    const { clientID } = client;
    // An operator has it already, with a token of his own.
    if (await manager.existsBy(Client, { clientID })) continue;
    await manager.insert(Client, client);
    await manager.insert(AccessToken, { tokenID: clientID, clientID, hash: hashOf(token) });
  }
}

/**
 * The resources of which a folder has a file, each behind those that it refers to by fields that cannot wait.
 *
 * @throws CommandError if a file is of no resource
 */
async function demonstrated(
  folder: string,
  resources: ReadonlyMap<string, EntityMetadata>,
): Promise<EntityMetadata[]> {
  const names = (await namesIn(folder))
    .flatMap((file) => /^([^.].*)\.csv$/.exec(file)?.[1] ?? [])
    .sort();
  const [visited, ordered] = [new Set<EntityMetadata>(), new Set<EntityMetadata>()];
  const add = (metadata: EntityMetadata): void => {
    if (visited.has(metadata)) return;
    visited.add(metadata);
    for (const key of metadata.foreignKeys) if (!canWait(key)) add(key.referencedEntityMetadata);
    if (names.includes(metadata.tableName)) ordered.add(metadata);
  };
  for (const name of names) {
    const metadata = resources.get(name);
    if (!metadata)
      throw new CommandError(`${join(folder, name)}.csv has no resource: there is no ${name}`);
    add(metadata);
  }
  return [...ordered];
}

/** The fields that are null until all objects are there, with the value that makes them so. */
function waitingFields({ foreignKeys }: EntityMetadata): Map<string, string> {
  const columns = foreignKeys.filter(canWait).flatMap((key) => key.columns);
  return new Map(columns.map(({ propertyName }) => [propertyName, '']));
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

/** The rows of a file of the demonstration, in batches. `catalogue import` reads the same files. */
export async function* demoRows(folder: string, resource: string): AsyncGenerator<FileRow[]> {
  yield* rowsOf('csv', textOf((await openSource(join(folder, `${resource}.csv`))).stream));
}
