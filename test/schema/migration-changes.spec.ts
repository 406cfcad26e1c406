import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Column,
  type ColumnOptions,
  CreateDateColumn,
  DataSource,
  Index,
  PrimaryColumn,
  UpdateDateColumn,
} from 'typeorm';
import { migrate } from '../../src/database/migrate.js';
import { databaseOptions } from '../../src/database/options.js';
import { identifierColumn, Resource, timeColumn } from '../../src/resource/index.js';
import { checkChanges } from '../../src/schema/check-changes.js';
import { migrationChanges } from '../../src/schema/parts/parts.js';
import type { Changes } from '../../src/schema/schema-changes.js';
import type { Scope } from '../../src/resource/declaration.js';
import { createDatabase, type TestDatabase } from '../database/database.js';
import { definitionOf } from '../database/definition.js';

type Entity = new () => Record<string, unknown>;

/** The lists of gadgets at first. */
const LISTS = {
  counted: ['maker', 'kind'],
  filtered: ['maker', 'kind', 'name'],
  sorted: ['maker', 'kind', 'name', 'price'],
  searched: ['words'],
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

async function change(entity: Entity, destructive = false): Promise<Changes> {
  await source.destroy();
  source = await open(entity);
  const changes = await migrationChanges(source);
  await checkChanges(source, changes.up, destructive);
  return changes;
}

const run = (statements: readonly string[]) =>
  source.transaction(async (manager) => {
    for (const statement of statements) await manager.query(statement);
  });

function definition(): Promise<string> {
  return definitionOf(source, 'gadgets');
}

const TEXT = 'Emca '.repeat(11).trim();

beforeEach(async () => {
  database = await createDatabase();
  source = await open(gadgets());
  await run((await migrationChanges(source)).up);
  await run([
    `SELECT install_words('gadgets', '{name}')`,
    `INSERT INTO gadgets ("gadgetID", name, maker) VALUES ('g1', 'One', 'Acme')`,
  ]);
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
      await run(up);
      expect((await migrationChanges(source)).up).toEqual([]);
      const after = await definition();
      expect(after).not.toBe(before);
      expect(await source.query(`SELECT name, stock::integer FROM gadgets`)).toEqual([
        { name: 'One', stock: 5 },
      ]);
      await run(down);
      expect(await definition()).toBe(before);
      expect(await source.query('SELECT name, maker, kind FROM gadgets')).toEqual([
        { name: 'One', maker: 'Acme', kind: 'A' },
      ]);
      await run([`INSERT INTO gadgets ("gadgetID", name, maker) VALUES ('g2', 'Two', 'Acme')`]);
      await run(up);
      expect(await definition()).toBe(after);
    },
  );

  it('a scope by another new column records that column in deletions', async () => {
    await run((await change(CHANGED.scoped)).up);
    const before = await definition();
    const { up, down } = await change(CHANGED.scopedByOther);
    expect(up.at(-1)).toBe(`SELECT install_deletions('gadgets', 'gadgetID', '{tenant}')`);
    await run(up);
    expect((await migrationChanges(source)).up).toEqual([]);
    await run(down);
    expect(await definition()).toBe(before);
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

  it('another expression of a generated column computes it anew', async () => {
    await run((await change(CHANGED.generated)).up);
    expect(await source.query('SELECT initial FROM gadgets')).toEqual([{ initial: 'o' }]);
    const before = await definition();
    const { up, down } = await change(CHANGED.generatedAnew);
    await run(up);
    expect((await migrationChanges(source)).up).toEqual([]);
    expect(await source.query('SELECT initial FROM gadgets')).toEqual([{ initial: 'O' }]);
    await run(down);
    expect(await definition()).toBe(before);
  });

  it('a generated column is recognised in a database that was restored under another name', async () => {
    await run((await change(CHANGED.generated)).up);
    await run([`UPDATE typeorm_metadata SET database = 'before'`]);
    expect((await migrationChanges(source)).up).not.toEqual([]);
    await migrate(database.url);
    expect((await migrationChanges(source)).up).toEqual([]);
  });

  it('a narrower type is refused, and names where to write it', async () => {
    await expect(change(CHANGED.shorter)).rejects.toThrow(
      /^gadgets.name changes its type, .* npm run migration -- --empty <name>, as ALTER TABLE "gadgets" ALTER COLUMN "name" TYPE character varying\(40\)/,
    );
    await expect(change(CHANGED.coarser)).rejects.toThrow(/only with --destructive/);
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
