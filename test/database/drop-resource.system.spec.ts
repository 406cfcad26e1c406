import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Client } from 'pg';
import type { CommandResult } from '../cli/catalogue.js';
import { until } from '../until.js';
import { BuiltCopy, type TestMigration } from './built-copy.js';
import { connectedTo, createDatabase, type TestDatabase } from '#server/testing/database.js';
import { waitingFor } from './locks.js';

let database: TestDatabase;
let client: Client;
let copy: BuiltCopy;

beforeAll(async () => {
  copy = await BuiltCopy.make([]);
});

beforeEach(async () => {
  database = await createDatabase();
  client = await connectedTo(database.url);
});
afterEach(async () => {
  await client.end();
  await database.drop();
});

afterAll(async () => {
  await copy.remove();
});

/** What the generator writes for gadgets. */
function creation(time: number, columns = '"colour" text'): TestMigration {
  const up = `
    CREATE TYPE "gadget_kind" AS ENUM ('A', 'B');
    CREATE TABLE "gadgets" ("gadgetID" varchar(100) COLLATE "C" NOT NULL, ${columns}, "kind" "gadget_kind" NOT NULL,
      "updatedAt" timestamptz(3) NOT NULL DEFAULT now(), CONSTRAINT "PK_gadgets" PRIMARY KEY ("gadgetID"));
    CREATE INDEX "gadgets_by_kind" ON "gadgets" ("kind", "gadgetID");
    CREATE TRIGGER "gadgets_updated_at" BEFORE INSERT OR UPDATE ON "gadgets"
      FOR EACH ROW EXECUTE FUNCTION "keep_updated_at"();
    SELECT install_tally('gadgets', 'gadgetID', '{kind}');
    SELECT install_deletions('gadgets', 'gadgetID')`;
  return { name: 'CreateGadgets', time, up };
}

const FORMER = 9_000_000_000_001;
const LATER = 9_000_000_000_002;
const REMEDY =
  'rename that, or, if a migration whose file is gone has created it, run catalogue drop <resource>\n';
const INSERT = `INSERT INTO gadgets VALUES ('g1', 'red', 'A')`;

/** Runs a command of a service with these migrations besides those of the project. */
async function run(
  migrations: readonly TestMigration[],
  ...args: string[]
): Promise<CommandResult> {
  return copy.runWith(migrations, args, { DATABASE_URL: database.url });
}

async function recorded(): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM migrations WHERE name LIKE 'Create%' AND timestamp >= ${FORMER} ORDER BY name`,
  );
  return rows.map(({ name }) => name);
}

async function gadgets(): Promise<unknown[]> {
  const { rows } = await client.query<Record<string, unknown>>('SELECT * FROM gadgets');
  return rows.map(({ updatedAt, ...row }) => {
    expect(updatedAt).toBeInstanceOf(Date);
    return row;
  });
}

describe('A resource that was migrated, taken back and generated again', () => {
  it.each(['migrate', 'start'])(
    'is refused by %s, until the former table is dropped',
    async (command) => {
      expect(await run([creation(FORMER)], 'migrate')).toMatchObject({ status: 0 });
      await client.query(INSERT);
      const again = creation(LATER, '"size" integer');
      expect(await run([again], command)).toMatchObject({
        status: 1,
        stderr: `catalogue: CreateGadgets${LATER} fails, since type "gadget_kind" already exists: ${REMEDY}`,
      });
      expect(await gadgets()).toHaveLength(1);
      expect(await recorded()).toEqual([`CreateGadgets${FORMER}`]);

      expect(await run([again], 'drop', 'gadgets')).toMatchObject({
        status: 1,
        stderr:
          'catalogue: gadgets has objects or deletions, which are lost: drop it with --destructive\n',
      });
      expect(await gadgets()).toHaveLength(1);
      expect(await run([again], 'drop', 'gadgets', '--destructive')).toMatchObject({
        status: 0,
        stdout: 'gadgets is dropped\n',
      });
      expect(await recorded()).toEqual([]);
      expect(await run([again], 'migrate')).toMatchObject({ status: 0 });
      expect(await gadgets()).toEqual([]);
    },
  );

  it('is not dropped with an object that is committed meanwhile', async () => {
    expect(await run([creation(FORMER)], 'migrate')).toMatchObject({ status: 0 });
    await client.query('BEGIN');
    await client.query(INSERT);
    const dropped = run([], 'drop', 'gadgets');
    await until(async () => (await waitingFor(client, 'gadgets')) > 0, 60_000);
    await client.query('COMMIT');
    expect(await dropped).toMatchObject({ status: 1 });
    expect(await gadgets()).toHaveLength(1);
  });

  it('is dropped without holding up readers behind another one', async () => {
    expect(await run([creation(FORMER)], 'migrate')).toMatchObject({ status: 0 });
    const reader = await connectedTo(database.url);
    await reader.query('BEGIN; SELECT FROM gadgets');
    const dropped = run([], 'drop', 'gadgets');
    await until(async () => (await waitingFor(client, 'gadgets')) > 0, 60_000);
    await client.query(`SET statement_timeout = '20s'`);
    expect(await gadgets()).toEqual([]);
    await reader.end();
    expect(await dropped).toMatchObject({ status: 0, stdout: 'gadgets is dropped\n' });
  });

  it('is refused a table that is not of the service', async () => {
    await client.query('CREATE TABLE gadgets (mine text)');
    expect(await run([creation(LATER)], 'migrate')).toMatchObject({
      status: 1,
      stderr: `catalogue: CreateGadgets${LATER} fails, since relation "gadgets" already exists: ${REMEDY}`,
    });
  });
});

describe('A resource of the code', () => {
  it('is not dropped, and neither is an unknown one', async () => {
    expect(await run([], 'drop', 'brands', '--destructive')).toMatchObject({
      status: 1,
      stderr: 'catalogue: The code has the resource brands: remove it there first\n',
    });
    expect(await run([], 'drop', 'clients', '--destructive')).toMatchObject({
      status: 1,
      stderr: 'catalogue: The database has no resource clients\n',
    });
  });

  it('is run again by its migration after it was dropped and the file brought back', async () => {
    expect(await run([creation(FORMER)], 'migrate')).toMatchObject({ status: 0 });
    expect(await run([], 'drop', 'gadgets')).toMatchObject({ status: 0 });
    const { rows } = await client.query(
      `SELECT FROM pg_class WHERE relname ~ '^gadgets' UNION ALL SELECT FROM pg_type WHERE typname ~ '^gadget'
       UNION ALL SELECT FROM pg_proc WHERE proname ~ 'gadgets'`,
    );
    expect(rows).toEqual([]);
    expect(await run([creation(FORMER)], 'migrate')).toMatchObject({ status: 0 });
    expect(await gadgets()).toEqual([]);
  });
});
