import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Client } from 'pg';
import {
  Column,
  type ColumnOptions,
  CreateDateColumn,
  DataSource,
  Index,
  PrimaryColumn,
  UpdateDateColumn,
} from 'typeorm';
import { databaseOptions } from '#server/database/database-client.js';
import { identifierColumn, Resource, timeColumn } from '@catalogue/server';
import { checkChanges } from '#server/schema/check-changes.js';
import { differences } from '#server/schema/differences.js';
import { migrate } from '#server/schema/migrate.js';
import { type Changes, schemaChanges } from '#server/schema/schema-changes.js';
import type { Scope } from '#server/resource/declaration.js';
import { MIGRATIONS } from '../project.js';
import { connectedTo, createDatabase, type TestDatabase } from '#server/testing/database.js';
import { definitionOf } from '../database/definition.js';
import { createDeclared, installDeclared, migrateBy } from './declared.js';

type Entity = new () => Record<string, unknown>;

/** The lists of gadgets at first. */
const LISTS = {
  counted: ['maker', 'kind'],
  filtered: ['maker', 'kind', 'name'],
  sorted: ['maker', 'kind', 'name', 'price'],
  searched: ['words'],
  derived: { words: ['name'] },
};

/** The columns of gadgets at first. */
const COLUMNS = {
  name: { type: 'varchar', length: 50 },
  maker: { type: 'varchar', length: 50, collation: 'C' },
  kind: { type: 'enum', enumName: 'gadget_kind', enum: ['A', 'B'], default: 'A' },
  price: { type: 'numeric', precision: 7, scale: 2, nullable: true },
  stock: { type: 'integer', default: 5 },
} satisfies Record<string, ColumnOptions>;

/** The entity of gadgets with these columns. */
function gadgets(
  columns: Record<string, ColumnOptions> = COLUMNS,
  lists: typeof LISTS & { readonly scope?: Scope } = LISTS,
): Entity {
  class Gadget {
    [name: string]: unknown;
    declare gadgetID: string;
    declare createdAt: Date;
    declare updatedAt: Date;
    declare words: string;
  }
  const { prototype } = Gadget;
  PrimaryColumn(identifierColumn)(prototype, 'gadgetID');
  CreateDateColumn(timeColumn)(prototype, 'createdAt');
  UpdateDateColumn(timeColumn)(prototype, 'updatedAt');
  Column({ type: 'tsvector', select: false, insert: false, update: false })(prototype, 'words');
  Index({ type: 'gin' })(prototype, 'words');
  for (const [name, options] of Object.entries(columns)) {
    Column(options)(prototype, name);
  }
  Index(['name'])(Gadget);
  Resource<Gadget>('gadgets', lists)(Gadget);
  return Gadget;
}

const { maker, ...OTHERS } = COLUMNS;
const renamed = JSON.parse(JSON.stringify(LISTS).replaceAll('maker', 'brand')) as typeof LISTS;
const initial = { type: 'varchar', length: 1, generatedType: 'STORED', nullable: true } as const;
const withInitial = {
  ...LISTS,
  counted: [...LISTS.counted, 'initial'],
  filtered: [...LISTS.filtered, 'initial'],
};

const CHANGED = {
  renamed: gadgets({ ...OTHERS, brand: maker }, renamed),
  moreValues: gadgets({ ...COLUMNS, kind: { ...COLUMNS.kind, enum: ['A', 'C', 'B'] } }),
  otherValues: gadgets({ ...COLUMNS, kind: { ...COLUMNS.kind, enum: ['A', 'C'] } }),
  ownName: gadgets({ ...COLUMNS, kind: { ...COLUMNS.kind, enumName: 'gadgets_kind_enum' } }),
  newDefault: gadgets({
    ...COLUMNS,
    kind: { ...COLUMNS.kind, enum: ['A', 'B', 'C'], default: 'C' },
  }),
  wider: gadgets({
    ...COLUMNS,
    name: { ...COLUMNS.name, length: 60 },
    maker: { ...maker, length: 200 },
    price: { ...COLUMNS.price, precision: 9, scale: 3 },
    stock: { type: 'bigint', default: 5 },
  }),
  widerPrice: gadgets({ ...COLUMNS, price: { ...COLUMNS.price, precision: 9, scale: 3 } }),
  scoped: gadgets(
    { ...COLUMNS, owner: { type: 'varchar', length: 50, nullable: true } },
    { ...LISTS, scope: { columns: ['owner'], where: ({ clientID: owner }) => ({ owner }) } },
  ),
  scopedByOther: gadgets(
    {
      ...COLUMNS,
      owner: { type: 'varchar', length: 50, nullable: true },
      tenant: { type: 'varchar', length: 50, nullable: true },
    },
    { ...LISTS, scope: { columns: ['tenant'], where: ({ clientID: tenant }) => ({ tenant }) } },
  ),
  shorter: gadgets({ ...COLUMNS, name: { ...COLUMNS.name, length: 40 } }),
  required: gadgets({ ...COLUMNS, code: { type: 'integer' } }),
  coarser: gadgets({ ...COLUMNS, price: { ...COLUMNS.price, scale: 1 } }),
  generated: gadgets(
    { ...COLUMNS, initial: { ...initial, asExpression: `coalesce(lower(left(name, 1)), '$1')` } },
    withInitial,
  ),
  generatedAnew: gadgets(
    { ...COLUMNS, initial: { ...initial, asExpression: 'upper(left(name, 1))' } },
    withInitial,
  ),
};

let database: TestDatabase;
let source: DataSource;

/** A data source of the same database with this entity. */
async function open(entity: Entity): Promise<DataSource> {
  return new DataSource({ ...databaseOptions(database.url), entities: [entity] }).initialize();
}

/** What `npm run migration` would write. */
async function change(entity: Entity, destructive = false): Promise<Changes> {
  await source.destroy();
  source = await open(entity);
  const changes = await schemaChanges(source);
  await checkChanges(source, changes.up, destructive);
  return changes;
}

/** Runs statements as those of a migration. */
const run = (statements: readonly string[]) => migrateBy(source, statements);

/** Runs them, and installs what the entity declares. */
async function apply(statements: readonly string[]): Promise<void> {
  await run(statements);
  await installDeclared(source, true);
}

function definition(): Promise<string> {
  return definitionOf(source, 'gadgets');
}

/** How the gadgets differ from their entity. */
async function lacking(): Promise<string[]> {
  const found = await differences(source);
  return found.filter(({ text }) => text.includes('gadgets')).map(({ text }) => text);
}

/** What the tally counts, by facet. */
async function counts(): Promise<Record<string, number>> {
  const rows = await source.query<{ facet: string; count: number }[]>(
    `SELECT facet, sum(count)::integer AS count FROM (
       SELECT facet, count FROM gadgets_tally UNION ALL SELECT facet, count FROM gadgets_tally_deltas
      ) counted GROUP BY facet HAVING sum(count) <> 0 AND facet !~ '^kind='`,
  );
  return Object.fromEntries(rows.map(({ facet, count }) => [facet, count]));
}

const TEXT = 'Emca '.repeat(11).trim();

/** A database with the gadgets, which each test has a copy of. */
let declared: TestDatabase;

beforeAll(async () => {
  declared = await createDatabase();
  database = declared;
  source = await open(gadgets());
  await createDeclared(source);
  await run([`INSERT INTO gadgets ("gadgetID", name, maker) VALUES ('g1', 'One', 'Acme')`]);
  await source.destroy();
});
afterAll(() => declared.drop());
beforeEach(async () => {
  database = await createDatabase({ copied: declared });
  source = await open(gadgets());
});
afterEach(async () => {
  await source.destroy();
  await database.drop();
});

describe('The migration for', () => {
  it.each([
    ['a counted column that is renamed', CHANGED.renamed],
    ['an enumeration with a value more', CHANGED.moreValues],
    ['an enumeration with another value', CHANGED.otherValues, true],
    ['an enumeration that has the name by which TypeORM calls it', CHANGED.ownName],
    ['wider types', CHANGED.wider],
    ['a generated column', CHANGED.generated],
    ['a scope by a new column', CHANGED.scoped],
  ])(
    '%s makes the database as declared, keeps the data, and can be taken back',
    async (_, entity, destructive = false) => {
      const before = await definition();
      const { up, down } = await change(entity, destructive);
      await apply(up);
      expect((await schemaChanges(source)).up).toEqual([]);
      expect(await lacking()).toEqual([]);
      const after = await definition();
      expect(after).not.toBe(before);
      expect(await source.query(`SELECT name, stock::integer FROM gadgets`)).toEqual([
        { name: 'One', stock: 5 },
      ]);
      await run(down);
      // By the former release, which has the former entity.
      await change(gadgets());
      await installDeclared(source, true);
      expect(await definition()).toBe(before);
      expect(await source.query('SELECT name, maker, kind FROM gadgets')).toEqual([
        { name: 'One', maker: 'Acme', kind: 'A' },
      ]);
      await run([`INSERT INTO gadgets ("gadgetID", name, maker) VALUES ('g2', 'Two', 'Acme')`]);
      await change(entity, destructive);
      await apply(up);
      expect(await definition()).toBe(after);
    },
  );

  it.each([
    ['a counted column that is dropped', 'ALTER TABLE gadgets DROP COLUMN kind'],
    ['a text of the words that is renamed', 'ALTER TABLE gadgets RENAME COLUMN name TO title'],
    ['the words that are dropped', 'ALTER TABLE gadgets DROP COLUMN words'],
    ['a sorted column that is renamed', 'ALTER TABLE gadgets RENAME COLUMN price TO cost'],
    ['a longer text', 'ALTER TABLE gadgets ALTER name TYPE varchar(60), ALTER maker TYPE text'],
    ['a column of another type', 'ALTER TABLE gadgets ALTER price TYPE bigint USING price::bigint'],
    [
      'other values of one type',
      `ALTER TABLE gadgets ALTER maker TYPE varchar(50) USING upper(maker)`,
    ],
    [
      'a name that another column takes',
      'ALTER TABLE gadgets DROP COLUMN kind; ALTER TABLE gadgets RENAME COLUMN stock TO kind',
    ],
    ['a time of changes that is dropped', 'ALTER TABLE gadgets DROP COLUMN "updatedAt"'],
    [
      'a time of changes that is renamed',
      'ALTER TABLE gadgets RENAME COLUMN "updatedAt" TO changed',
    ],
    ['an identifier that is renamed', 'ALTER TABLE gadgets RENAME COLUMN "gadgetID" TO id'],
  ])('%s lets writers go on, and counts what they write', async (_, statement) => {
    const writer = await connectedTo(database.url);
    try {
      // A session keeps the plans of triggers.
      await writer.query(
        `INSERT INTO gadgets ("gadgetID", name, maker) VALUES ('g0', 'None', 'Acme')`,
      );
      await writer.query(`DELETE FROM gadgets WHERE "gadgetID" = 'g0'`);
      await run(statement.split(';'));
      await write(writer, statement);
    } finally {
      await writer.end();
    }
  });

  /** Writes as a session does that was open before a migration. */
  async function write(writer: Client, statement: string): Promise<void> {
    const named = statement.includes('TO title') ? 'title' : 'name';
    const id = statement.includes('TO id') ? 'id' : '"gadgetID"';
    await writer.query(`INSERT INTO gadgets (${id}, maker, ${named}) VALUES ('g2', 'Acme', 'Two')`);
    await writer.query(`UPDATE gadgets SET maker = 'Other', ${named} = 'Three' WHERE ${id} = 'g2'`);
    expect(await counts()).toEqual({
      '': 2,
      'maker=Other': 1,
      [`maker=${statement.includes('upper') ? 'ACME' : 'Acme'}`]: 1,
    });
    await writer.query(`DELETE FROM gadgets WHERE ${id} = 'g1'`);
    expect(await counts()).toEqual({ '': 1, 'maker=Other': 1 });
    const { rows } = await writer.query(`SELECT ${id} AS id FROM gadgets_deletions ORDER BY 1`);
    expect(rows).toEqual([{ id: 'g0' }, { id: 'g1' }]);
    if (!statement.includes('COLUMN words')) {
      const { rows: found } = await writer.query('SELECT words::text FROM gadgets');
      expect(found).toEqual([{ words: "'^three' 'three'" }]);
    }
  }

  it('the last text of words that is dropped is refused, unless the words go, too', async () => {
    await expect(run(['ALTER TABLE gadgets DROP COLUMN name'])).rejects.toThrow(
      'No text of the words of gadgets is left: drop their column words in the same migration',
    );
    await run(['ALTER TABLE gadgets DROP COLUMN name, DROP COLUMN words']);
  });

  it('a table that is dropped leaves nothing of what was installed', async () => {
    await run(['DROP TABLE gadgets']);
    expect(
      await source.query(
        `SELECT relname FROM pg_class WHERE relname ~ '^gadgets'
         UNION ALL SELECT proname FROM pg_proc WHERE proname ~ 'gadgets'`,
      ),
    ).toEqual([]);
    expect(await source.query(`SELECT FROM tallies WHERE resource = 'gadgets'`)).toEqual([]);
    expect(await source.query(`SELECT FROM searches WHERE resource = 'gadgets'`)).toEqual([]);
  });

  it('a scope by another new column records that column in deletions', async () => {
    await apply((await change(CHANGED.scoped)).up);
    await run((await change(CHANGED.scopedByOther)).up);
    await run([`DELETE FROM gadgets`]);
    // An instance of the former release may still be there.
    expect((await installDeclared(source)).flatMap(({ statements }) => statements)).toEqual([
      `SELECT install_deletions('gadgets', 'gadgetID', '{tenant,owner}')`,
    ]);
    expect(await installDeclared(source)).toEqual([]);
    expect((await installDeclared(source, true)).flatMap(({ statements }) => statements)).toEqual([
      `SELECT install_deletions('gadgets', 'gadgetID', '{tenant}')`,
    ]);
    expect(await lacking()).toEqual([]);
    // What was recorded stays.
    expect(await source.query('SELECT "gadgetID", tenant FROM gadgets_deletions')).toEqual([
      { gadgetID: 'g1', tenant: null },
    ]);
  });

  it('wider types lets the longer values in, which its return refuses to cut', async () => {
    const { up, down } = await change(CHANGED.wider);
    await run(up);
    await run([
      `INSERT INTO gadgets ("gadgetID", name, maker, price, stock)
       VALUES ('g2', '${TEXT}', '${TEXT}', 123456.789, 5000000000)`,
    ]);
    await expect(run(down)).rejects.toThrow(/too long for type|out of range/);
  });

  it('a wider type of a column that is only sorted by gives its tally that type', async () => {
    await run((await change(CHANGED.widerPrice)).up);
    expect(
      await source.query(
        `SELECT DISTINCT format_type(atttypid, atttypmod) AS type FROM pg_attribute
         WHERE attrelid IN ('gadgets_tally_by_price'::regclass, 'gadgets_tally_by_price_deltas'::regclass)
         AND attname = 'value'`,
      ),
    ).toEqual([{ type: 'numeric(9,3)' }]);
  });

  it('another expression of a generated column computes it again', async () => {
    await apply((await change(CHANGED.generated)).up);
    expect(await source.query('SELECT initial FROM gadgets')).toEqual([{ initial: 'o' }]);
    const before = await definition();
    const { up, down } = await change(CHANGED.generatedAnew);
    await apply(up);
    expect((await schemaChanges(source)).up).toEqual([]);
    expect(await source.query('SELECT initial FROM gadgets')).toEqual([{ initial: 'O' }]);
    await run(down);
    await change(CHANGED.generated);
    await installDeclared(source, true);
    expect(await definition()).toBe(before);
  });

  it('a generated column is recognised in a database that was restored under another name', async () => {
    await apply((await change(CHANGED.generated)).up);
    await run([`UPDATE typeorm_metadata SET database = 'before'`]);
    expect((await schemaChanges(source)).up).not.toEqual([]);
    await migrate(database.url, { migrations: MIGRATIONS });
    expect((await schemaChanges(source)).up).toEqual([]);
  });

  it('a narrower type is refused, and names where to write it', async () => {
    await expect(change(CHANGED.shorter)).rejects.toThrow(
      /^gadgets.name changes its type, .* npm run migration -- --empty <name>, as ALTER TABLE "gadgets" ALTER COLUMN "name" TYPE character varying\(40\)/,
    );
    await expect(change(CHANGED.coarser)).rejects.toThrow(/only with --destructive/);
  });

  it('a column that a trigger of the author reads is refused, and is written by hand', async () => {
    await run([
      `CREATE FUNCTION set_kind() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW."kind" := NEW."maker"; RETURN NEW; END'`,
      'CREATE TRIGGER gadgets_kind BEFORE INSERT ON gadgets FOR EACH ROW EXECUTE FUNCTION set_kind()',
    ]);
    await expect(change(CHANGED.renamed)).rejects.toThrow(
      'The trigger gadgets_kind reads gadgets.maker: write that migration by hand, with its function',
    );
  });

  it('a new column that every gadget must have is refused without a default', async () => {
    await expect(change(CHANGED.required)).rejects.toThrow(
      'The gadgets that are there have no code: let it be null, or give it a default',
    );
  });

  it('other values of an enumeration is refused while a condition of the table compares it', async () => {
    const { up } = await change(CHANGED.otherValues, true);
    await run([`ALTER TABLE gadgets ADD CONSTRAINT cheap CHECK (kind <> 'A' OR price < 5)`]);
    await run([`CREATE INDEX rare ON gadgets (name) WHERE kind = 'A'`]);
    // They have another column, whose name contains this one.
    await run(['ALTER TABLE gadgets ADD mankind integer, ADD kind_of integer']);
    await run(['CREATE INDEX of_others ON gadgets (name) WHERE mankind + kind_of > 0']);
    await expect(run(up)).rejects.toThrow('operator does not exist');
    await expect(checkChanges(source, up, true)).rejects.toThrow(
      'gadgets.kind gets a new type, with which cheap, rare cannot compare it: ' +
        'drop them by a migration before, and create them by one after it',
    );
  });

  it('a value more that is also the default is refused, since PostgreSQL cannot use it yet', async () => {
    await expect(change(CHANGED.newDefault)).rejects.toThrow(
      /^The default 'C' is a value that the same migration would add/,
    );
  });
});
