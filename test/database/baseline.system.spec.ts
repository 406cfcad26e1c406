import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { migrate } from '#server/schema/migrate.js';
import { databaseOptions } from '#server/database/database-client.js';
import { revertMigration } from '#server/database/revert-migration.js';
import { MIGRATIONS } from '../project.js';
import { CommandHost } from '../cli/command-host.js';
import { createDatabase, type TestDatabase } from '#server/testing/database.js';

const OPTIONS = { migrations: MIGRATIONS };

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
    await migrate(database.url, OPTIONS);
    const created = await objects();
    expect(created).toEqual(expect.arrayContaining(['products', 'tally_orders', 'write_time()']));
    const { length } = await dataSource.query<object[]>('SELECT FROM migrations');
    // Those of the resources that a project has added come first.
    for (let later = 1; later < length; later += 1)
      await revertMigration(database.url, false, OPTIONS);
    await dataSource.query(`INSERT INTO brands ("brandID", name) VALUES ('b', 'B')`);
    await expect(revertMigration(database.url, false, OPTIONS)).rejects.toThrow(
      'would lose the values of brands.brandID, brands.name',
    );
    await revertMigration(database.url, true, OPTIONS);
    // What the service itself has stays.
    const left = await objects();
    expect(left).toEqual(expect.arrayContaining(['clients', 'tally_orders', 'write_time()']));
    expect(left.filter((name) => /brand|categor|product|variant/.test(name))).toEqual([]);
    await migrate(database.url, OPTIONS);
    expect(await objects()).toEqual(created);
  });
});

/** What tells the database of an earlier version. */
const EARLIER = {
  migrations: `UPDATE migrations SET name = 'CreateCatalogue1763683200000', timestamp = 1763683200000`,
  clients: 'ALTER TABLE clients DROP resources, DROP hidden, DROP "isPublic"',
  watermark: 'ALTER TABLE watermark DROP former',
};

describe('A database of an earlier version', () => {
  const host = new CommandHost();

  afterAll(() => host.end());
  beforeEach(() => dataSource.query('DROP TABLE engine'));

  it.each<[command: string, tells: keyof typeof EARLIER]>([
    ['migrate', 'clients'],
    ['migrate', 'migrations'],
    ['migrate', 'watermark'],
    ['migrate --down', 'clients'],
    ['start', 'clients'],
    ['verify', 'clients'],
    ['client list', 'clients'],
    ['export brands', 'clients'],
    ['describe brands', 'clients'],
  ])('is refused by %s in one line, by its %s', async (command, tells) => {
    await dataSource.query(EARLIER[tells]);
    const environment = { DATABASE_URL: database.url, ADMIN_PORT: '0' };
    const refused = await host.run(command.split(' '), { environment });
    expect(refused).toMatchObject({
      status: 1,
      stdout: '',
      stderr:
        'catalogue: The schema of the database is of a version of the service that this one does not know: ' +
        'export each resource with that version (catalogue export), and import the files into a new database\n',
    });
  });

  it('is known by the columns of its tables, and marked, so that later versions may change them', async () => {
    // A later version may have added it.
    await dataSource.query('ALTER TABLE tallies ADD soon text');
    expect((await migrate(database.url, OPTIONS)).migrations).toContain('engine 1-tables');
    await dataSource.query(
      `ALTER TABLE tallies ADD later text;
       INSERT INTO migrations (name, timestamp) VALUES ('OfALaterVersion1', 9000000000000)`,
    );
    expect((await migrate(database.url, OPTIONS)).migrations).toEqual([]);
  });
});
