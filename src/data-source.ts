import 'reflect-metadata';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { embeddedDatabase } from './cli/open-catalogue.js';
import { migrations } from './database/migrate.js';
import { databaseOptions } from './database/options.js';
import { addIndex } from './private-api/database.js';
import { ownResources } from './resource/own-table.js';
import { listTableOf } from './resource/carried-columns.js';
import { listIndexes } from './resource/list-indexes.js';
import { loadEnvFile } from './settings/env-file.js';
import { Settings } from './settings/settings.js';

/** A data source in whose schema the indexes of lists belong to the tables, so that TypeORM does not drop them. */
class CatalogueDataSource extends DataSource {
  override async initialize(): Promise<this> {
    await super.initialize();
    for (const metadata of ownResources(this).values())
      for (const { name } of listIndexes(listTableOf(metadata))) addIndex(metadata, name);
    return this;
  }
}

loadEnvFile();
const settings = new Settings(process.env);

/**
 * The database of the settings, for the command line of TypeORM and for editors. The embedded one runs until the
 * process ends. Only `catalogue migrate` changes its schema.
 */
export default new CatalogueDataSource({
  ...databaseOptions(settings.databaseUrl ?? (await embeddedDatabase(settings)).url),
  entities: [join(import.meta.dirname, '**/*.entity.{js,ts}')],
  migrations: await migrations(),
});
