import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { migrate } from '../../src/database/migrate.js';
import { databaseOptions } from '../../src/database/options.js';
import { migrateDown } from '../../src/database/revert-migration.js';
import { CommandHost } from '../cli/command-host.js';
import { createDatabase, type TestDatabase } from './database.js';

let database: TestDatabase;
let dataSource: DataSource;

beforeEach(async () => {
  database = await createDatabase();
  dataSource = await new DataSource(databaseOptions(database.url)).initialize();
});
afterEach(async () => {
  await dataSource.destroy();
  await database.drop();
});

/** Every object of the schema but the list of migrations. */
async function objects(): Promise<string[]> {
  const rows = await dataSource.query<{ name: string }[]>(
    `SELECT relname::text AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relname !~ '^(migrations|PK_8c82d7f526340ab734260ea46be|typeorm_metadata)'
     UNION SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace
     UNION SELECT oid::regtype::text FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype = 'e'
     ORDER BY name`,
  );
  return rows.map(({ name }) => name);
}

describe('The first migration', () => {
  it('is taken back with everything that it created, and applied again', async () => {
    await database.drop();
    database = await createDatabase({ migrated: false });
    await dataSource.destroy();
    dataSource = await new DataSource(databaseOptions(database.url)).initialize();
    await migrate(database.url);
    const created = await objects();
    expect(created).toEqual(expect.arrayContaining(['products', 'tally_orders', 'write_time()']));
    const { length } = await dataSource.query<object[]>('SELECT FROM migrations');
    // Those of the resources that a project has added come first.
    for (let later = 1; later < length; later += 1) await migrateDown(database.url, false);
    await dataSource.query(`INSERT INTO brands ("brandID", name) VALUES ('b', 'B')`);
    await expect(migrateDown(database.url, false)).rejects.toThrow(
      'would lose the values of brands.brandID, brands.name',
    );
    await migrateDown(database.url, true);
    expect(await objects()).toEqual([]);
    await migrate(database.url);
    expect(await objects()).toEqual(created);
  });
});

describe('A database of a development version', () => {
  const host = new CommandHost();

  afterAll(() => host.end());
  beforeEach(() =>
    dataSource.query(
      `UPDATE migrations SET name = 'CreateCatalogue1763683200000', timestamp = 1763683200000`,
    ),
  );

  it.each(['migrate', 'start', 'verify'])('is refused by %s in one line', async (command) => {
    const environment = { DATABASE_URL: database.url, ADMIN_PORT: '0' };
    const refused = await host.run([command], { environment });
    expect(refused).toMatchObject({
      status: 1,
      stderr:
        'catalogue: The database is of a development version of the service, which this one cannot migrate: ' +
        'export each resource with the version that it is of (catalogue export), and import the files into a new database\n',
    });
  });
});
