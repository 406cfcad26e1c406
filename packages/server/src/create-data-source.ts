import 'reflect-metadata';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { embeddedDatabase } from './cli/open-catalogue.js';
import { AccessToken, Client } from './clients/client.entity.js';
import { databaseOptions } from './database/database-client.js';
import { addIndex } from './private-api/database.js';
import { migrationsOf } from './project.js';
import { ownResources } from './resource/resource.js';
import { listIndexes } from './resource/list-indexes.js';
import { Settings } from './settings/settings.js';
import { loadEnvFile } from './settings/env-file.js';

/** A data source in whose schema the indexes of lists belong to the tables, so that TypeORM does not drop them. */
class CatalogueDataSource extends DataSource {
  override async initialize(): Promise<this> {
    await super.initialize();
    for (const metadata of ownResources(this).values())
      for (const { name } of listIndexes(metadata)) addIndex(metadata, name);
    return this;
  }
}

/** A path as a part of a glob. */
function escaped(path: string): string {
  return path.replace(/[\\[\]{}()*?!+@]/g, '\\$&');
}

/**
 * The database of the settings, for the command line of TypeORM and for editors. The embedded one runs until the
 * process ends. Only `catalogue migrate` changes its schema.
 *
 * @param folder the folder of the built project, as of `run`
 */
export async function createDataSource(folder: string): Promise<DataSource> {
  loadEnvFile();
  const settings = new Settings(process.env);
  return new CatalogueDataSource({
    ...databaseOptions(settings.databaseUrl ?? (await embeddedDatabase(settings)).url),
    entities: [Client, AccessToken, join(escaped(folder), '**/*.entity.{js,ts}')],
    migrations: await migrationsOf({ folder }),
  });
}
