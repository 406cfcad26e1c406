import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import type { CommandResult } from '../cli/catalogue.js';
import { until } from '../until.js';
import { BuiltCopy, type TestMigration } from './built-copy.js';
import { connectedTo, createDatabase, type TestDatabase } from '#server/testing/database.js';
import { waitingFor } from './locks.js';

const TIME = 9_000_000_000_000;

const NOTE: TestMigration = {
  name: 'AddBrandNote',
  up: `ALTER TABLE brands ADD note text;
       SELECT install_tally('brands', 'brandID', '{note}', '{nameOrder,createdAt,updatedAt}')`,
  down: `SELECT install_tally('brands', 'brandID', '{}', '{nameOrder,createdAt,updatedAt}');
         ALTER TABLE brands DROP COLUMN note`,
};

const RENAMED: TestMigration = {
  name: 'RenameBrandNote',
  up: 'ALTER TABLE brands RENAME name TO title',
  down: 'ALTER TABLE brands RENAME title TO name',
};

let database: TestDatabase;
let client: Client;
let copy: BuiltCopy;

beforeAll(async () => {
  copy = await BuiltCopy.make([]);
});

beforeEach(async () => {
  database = await createDatabase();
  client = await connectedTo(database.url);
  await client.query(`INSERT INTO brands ("brandID", name) VALUES ('b1', 'Acme')`);
});
afterEach(async () => {
  await client.end();
  await database.drop();
});

afterAll(async () => {
  await copy.remove();
});

/** Runs `migrate` of a service with these migrations besides those of the project. */
async function migrate(
  migrations: readonly TestMigration[],
  ...args: string[]
): Promise<CommandResult> {
  return copy.runWith(migrations, ['migrate', ...args], { DATABASE_URL: database.url });
}

async function columns(): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'brands' AND column_name IN ('note', 'title')`,
  );
  return rows.map(({ name }) => name);
}

describe('catalogue migrate --down', () => {
  it('takes back one migration at a time, and not what it was not told of', async () => {
    expect(await migrate([NOTE, RENAMED])).toMatchObject({ status: 0 });
    expect(await columns()).toEqual(['note', 'title']);
    // A column that is renamed loses nothing.
    expect(await migrate([NOTE, RENAMED], '--down')).toEqual({
      status: 0,
      stdout: `RenameBrandNote${TIME + 1} is taken back; the next start or migrate applies it again if it is there\n`,
      stderr: '',
    });
    expect(await columns()).toEqual(['note']);
    expect(await migrate([NOTE], '--down')).toMatchObject({ status: 0 });
    expect(await columns()).toEqual([]);
    expect(await migrate([NOTE])).toMatchObject({ status: 0 });
    expect(await columns()).toEqual(['note']);
  });

  it('is refused if data would be lost, and loses it with --destructive', async () => {
    expect(await migrate([NOTE])).toMatchObject({ status: 0 });
    await client.query(`UPDATE brands SET note = 'mine'`);
    expect(await migrate([NOTE], '--down')).toEqual({
      status: 1,
      stdout: '',
      stderr:
        `catalogue: AddBrandNote${TIME} would lose the values of brands.note: ` +
        'take it back with --destructive\n',
    });
    const { rows } = await client.query('SELECT note FROM brands');
    expect(rows).toEqual([{ note: 'mine' }]);
    expect(await migrate([NOTE], '--down', '--destructive')).toMatchObject({ status: 0 });
    expect(await columns()).toEqual([]);
  });

  it('is refused for a value that a writer commits behind the trial', async () => {
    expect(await migrate([NOTE])).toMatchObject({ status: 0 });
    const [reader, writer] = [new Client(database.url), new Client(database.url)];
    await Promise.all([reader.connect(), writer.connect()]);
    // The trial waits for the reader, and the writer for the trial.
    await reader.query('BEGIN; SELECT FROM brands');
    const reverted = migrate([NOTE], '--down');
    await until(async () => (await waitingFor(client, 'brands')) === 1, 60_000);
    const written = writer.query(
      `BEGIN; UPDATE brands SET note = 'mine'; SELECT pg_sleep(0.1); COMMIT`,
    );
    await until(async () => (await waitingFor(client, 'brands')) !== 1);
    await reader.query('COMMIT');
    await written;
    expect(await reverted).toMatchObject({ status: 1 });
    expect((await client.query('SELECT note FROM brands')).rows).toEqual([{ note: 'mine' }]);
    await Promise.all([reader.end(), writer.end()]);
  });

  it('is refused without the file of the migration', async () => {
    expect(await migrate([NOTE])).toMatchObject({ status: 0 });
    expect(await migrate([], '--down')).toMatchObject({
      status: 1,
      stderr: `catalogue: The file of AddBrandNote${TIME} is gone: bring it back to take it back\n`,
    });
    expect(await columns()).toEqual(['note']);
  });

  it('is refused for one without a transaction, whose loss cannot be seen', async () => {
    const bare = { ...NOTE, isBare: true };
    expect(await migrate([bare])).toMatchObject({ status: 0 });
    expect(await migrate([bare], '--down')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('has no transaction'),
    });
    expect(await migrate([bare], '--down', '--destructive')).toMatchObject({ status: 0 });
    expect(await columns()).toEqual([]);
  });
});
