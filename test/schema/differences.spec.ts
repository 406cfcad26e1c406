import { describe, expect, it } from '@jest/globals';
import { lineOf } from '#server/schema/difference.js';
import { derivedColumns } from '#server/schema/parts/derived.js';
import { Resource } from '@catalogue/server';
import { differences } from '#server/schema/differences.js';
import { findViolations } from '#server/verify/verify.js';
import { sharedService } from '../service.js';
import { installDeclared } from './declared.js';
import {
  CATEGORY_MISSING,
  INSTALL_PRODUCTS_TALLY as TALLY,
  WITHOUT_CATEGORY,
} from './products-tally.js';

const service = sharedService();

const query = (sql: string) => service.dataSource.query<unknown[]>(sql);
const MIGRATION = 'run npm run migration -- <name> and catalogue migrate';

/** A damaging statement, the expected difference, the affected resource, and the repair; `start` or `migrate`. */
type Damage = [damage: string, line: string, of: string | undefined, mend: string];

/** One that a start repairs. */
const damaged = (damage: string, line: string, of?: string, mend = 'start'): Damage => {
  return [damage, `${line}; run catalogue migrate`, of, mend];
};

/** Replaces a trigger by one that calls a function which is not of a part, and fires as one of a part. */
function other(table: string, name: string, when: string): string {
  return `CREATE OR REPLACE TRIGGER ${name} ${when} ON ${table} EXECUTE FUNCTION suppress_redundant_updates_trigger();
    ALTER TABLE ${table} ENABLE ALWAYS TRIGGER ${name}`;
}

const NO_PRICE =
  'has ranges by nameOrder, createdAt, updatedAt, its entity by nameOrder, price, createdAt, updatedAt';
const ENABLE = 'ALTER TABLE "brands" ENABLE TRIGGER "mine"';
const NO_TABLES = 'products_tally_by_price, products_tally_by_words_counted';

const damages: Damage[] = [
  damaged(WITHOUT_CATEGORY, CATEGORY_MISSING, 'products'),
  damaged(TALLY.replace('price,', ''), `the tally of products ${NO_PRICE}`, 'products'),
  damaged(`SELECT remove_tally('products')`, 'products has no tally', 'products'),
  damaged(`DROP TABLE ${NO_TABLES}`, `products has no table ${NO_TABLES}`, 'products'),
  damaged(
    // As where the type was a text when the tally was installed.
    `UPDATE tallies SET orders = replace(orders::text, '["", "type", ', '["", ')::jsonb WHERE resource = 'products'`,
    'the tally of products was installed by a former version, or when columns had other types',
    'products',
  ),
  damaged(
    'DROP TRIGGER products_tally_insert ON products',
    'products has no working trigger products_tally_insert',
    'products',
  ),
  ...[
    'ALTER TABLE products DISABLE TRIGGER products_tally_update',
    // As pg_restore --disable-triggers leaves it.
    'ALTER TABLE products ENABLE TRIGGER products_tally_update',
    other('products', 'products_tally_update', 'AFTER UPDATE'),
    // It calls the right function, for some changes.
    `CREATE OR REPLACE TRIGGER products_tally_update AFTER UPDATE ON products
     WHEN (pg_trigger_depth() > 9) EXECUTE FUNCTION keep_products_tally();
     ALTER TABLE products ENABLE ALWAYS TRIGGER products_tally_update`,
  ].map((damage) =>
    damaged(damage, 'products has no working trigger products_tally_update', 'products'),
  ),
  ...[
    'ALTER TABLE brands ENABLE REPLICA TRIGGER brands_updated_at',
    other('brands', 'brands_updated_at', 'BEFORE UPDATE'),
    `CREATE OR REPLACE TRIGGER brands_updated_at BEFORE INSERT ON brands
     FOR EACH ROW EXECUTE FUNCTION keep_updated_at()`,
  ].map((damage) =>
    damaged(damage, 'brands has no working trigger that keeps updatedAt', 'brands'),
  ),
  ...[
    'ALTER TABLE categories DISABLE TRIGGER categories_deletions_delete',
    other('categories', 'categories_deletions_delete', 'AFTER DELETE'),
  ].map((damage) =>
    damaged(damage, 'categories has no working trigger categories_deletions_delete', 'categories'),
  ),
  ...[
    'ALTER TABLE products DISABLE TRIGGER products_words',
    other('products', 'products_words', 'BEFORE INSERT'),
  ].map((damage) =>
    damaged(damage, 'products has no working trigger that sets its words', 'products'),
  ),
  [
    `CREATE TRIGGER mine BEFORE DELETE ON brands EXECUTE FUNCTION suppress_redundant_updates_trigger();
     ALTER TABLE brands DISABLE TRIGGER mine`,
    `the trigger mine on brands is disabled; run ${ENABLE}`,
    'brands',
    `${ENABLE}; DROP TRIGGER mine ON brands`,
  ],
  damaged(
    'DROP TRIGGER brands_updated_at ON brands',
    'brands has no working trigger that keeps updatedAt',
    'brands',
  ),
  damaged(
    'DROP TRIGGER categories_deletions_rename ON categories',
    'categories has no working trigger categories_deletions_rename',
    'categories',
  ),
  damaged(
    'DROP TABLE categories_deletions',
    'categories has no table categories_deletions',
    'categories',
  ),
  damaged(
    `SELECT install_words('products', '{name,imageURL,description,refID}')`,
    'the words of products are made of name, imageURL, description, refID, its entity derives them from name, refID, description',
    'products',
    // An instance of another release may search them.
    'migrate',
  ),
  damaged(
    `SELECT install_words('products', '{name}')`,
    'the words of products are made of name, its entity derives them from name, refID, description',
    'products',
  ),
  damaged(
    `UPDATE searches SET is_stale = true WHERE resource = 'products'`,
    'the words of products are those of a former version',
    'products',
  ),
  damaged(
    'DROP TRIGGER products_words ON products',
    'products has no working trigger that sets its words',
    'products',
  ),
  [
    'ALTER TABLE products DROP COLUMN "imageURL"',
    `the schema is not as declared, this is lacking: ALTER TABLE "products" ADD "imageURL" character varying(2048); ${MIGRATION}`,
    'products',
    'ALTER TABLE "products" ADD "imageURL" character varying(2048)',
  ],
  [
    'DROP INDEX "IDX_4cab5e81d29a3a64278a9c61d6"',
    `the schema is not as declared, this is lacking: CREATE INDEX "IDX_4cab5e81d29a3a64278a9c61d6" ON "products"  ("refID", "productID") ; ${MIGRATION}`,
    undefined,
    'CREATE INDEX "IDX_4cab5e81d29a3a64278a9c61d6" ON "products" ("refID", "productID")',
  ],
  damaged('DROP INDEX products_by_price', 'products has no index products_by_price'),
  ...[
    // It carries less, has another direction, order or method, or lacks some objects.
    '("price", "productID") INCLUDE ("type", "categoryID", "brandID")',
    '("price" DESC, "productID") INCLUDE ("type", "categoryID", "brandID", "inStock", "currency", "stock")',
    '("productID", "price") INCLUDE ("type", "categoryID", "brandID", "inStock", "currency", "stock")',
    'USING hash ("price")',
    '("price", "productID") INCLUDE ("type", "categoryID", "brandID", "inStock", "currency", "stock") WHERE price > 0',
  ].map((columns) =>
    damaged(
      `DROP INDEX products_by_price; CREATE INDEX products_by_price ON products ${columns}`,
      'the index products_by_price on products is not as declared',
    ),
  ),
];

describe('A database that differs from the entities', () => {
  it.each(damages)('after %s is told, with what puts it right', async (damage, line, of, mend) => {
    await query(damage);
    const found = await differences(service.dataSource);
    expect(found.map(lineOf)).toEqual([line]);
    expect(found[0]?.resource).toBe(of);
    expect(found.some(({ isSurplus }) => isSurplus)).toBe(false);
    if (mend === 'start') {
      await installDeclared(service.dataSource);
      const left = await differences(service.dataSource);
      expect(left.filter(({ isSurplus }) => !isSurplus)).toEqual([]);
    }
    if (mend === 'migrate') expect(await installDeclared(service.dataSource)).toEqual([]);
    if (['start', 'migrate'].includes(mend)) await installDeclared(service.dataSource, true);
    else await query(mend);
    expect(await differences(service.dataSource)).toEqual([]);
  });

  const WORDS = /^1 products have other words than their texts; run catalogue search rebuild$/;
  const COUNTS = /^the tally of products has 1 for type=PHYSICAL .*, where there are 0$/;
  it.each([
    ['ALTER TABLE products DISABLE TRIGGER products_words', WORDS],
    ['DROP TRIGGER products_words ON products', WORDS],
    ['ALTER TABLE products DISABLE TRIGGER products_tally_update', COUNTS],
    ['DROP TRIGGER products_tally_update ON products', COUNTS],
  ])(
    'after %s is put right, and so is what was written without the trigger',
    async (damage, line) => {
      await service.load('products', [{ productID: 'p', type: 'PHYSICAL', name: 'Lamp' }]);
      await query(damage);
      await query(`UPDATE products SET name = 'Chair', type = 'DIGITAL'`);
      const found = await findViolations(service.application);
      expect(found).toContainEqual(expect.stringMatching(line));
      await installDeclared(service.dataSource);
      expect(await findViolations(service.application)).toEqual([]);
      await service.load('products', []);
    },
  );

  it.each([
    [
      'an index of its operator',
      'CREATE INDEX mine ON brands ("createdAt")',
      'DROP INDEX mine',
      /lacking: DROP INDEX "public"."mine"/,
    ],
    [
      'an index of a column that is no longer sorted by',
      'CREATE INDEX "brands_by_createdAt" ON brands ("createdAt", "brandID")',
      'DROP INDEX "brands_by_createdAt"',
      /^the index brands_by_createdAt on brands is not declared; run catalogue migrate$/,
    ],
    [
      'an index that also carries a column of a later release',
      'DROP INDEX brands_by_name; CREATE INDEX brands_by_name ON brands (name, "brandID") INCLUDE ("createdAt")',
      'DROP INDEX brands_by_name; CREATE INDEX brands_by_name ON brands (name, "brandID")',
      /^the index brands_by_name on brands is not as declared; run catalogue migrate$/,
    ],
    [
      'a column of a later release',
      'ALTER TABLE brands ADD COLUMN later text',
      'ALTER TABLE brands DROP COLUMN later',
      /lacking: ALTER TABLE "brands" DROP COLUMN "later"/,
    ],
    [
      'a generated column of a later release',
      `ALTER TABLE brands ADD COLUMN later text GENERATED ALWAYS AS (left(name, 1)) STORED;
       INSERT INTO typeorm_metadata (type, database, schema, "table", name, value)
       VALUES ('GENERATED_COLUMN', current_database(), current_schema(), 'brands', 'later', 'left(name, 1)')`,
      `ALTER TABLE brands DROP COLUMN later; DELETE FROM typeorm_metadata WHERE name = 'later'`,
      /lacking: (CREATE TABLE IF NOT EXISTS|DELETE FROM|ALTER TABLE "brands" DROP COLUMN "later")/,
    ],
    [
      'an enumeration of a later release',
      `CREATE TYPE brands_later_enum AS ENUM ('one'); ALTER TABLE brands ADD COLUMN later brands_later_enum`,
      'ALTER TABLE brands DROP COLUMN later; DROP TYPE brands_later_enum',
      /lacking: (ALTER TABLE "brands" DROP COLUMN "later"|DROP TYPE)/,
    ],
    [
      'a counted column of a later release',
      `SELECT install_tally('brands', 'brandID', '{name}', '{nameOrder}')`,
      `SELECT install_tally('brands', 'brandID', '{}', '{nameOrder}')`,
      /^the tally of brands counts by name, its entity by nothing/,
    ],
    [
      'a resource without its code',
      `CREATE TABLE gadgets ("gadgetID" text); SELECT install_tally('gadgets', 'gadgetID', '{}')`,
      `SELECT remove_tally('gadgets'); DROP TABLE gadgets`,
      /^the database has the resource gadgets, which the code has not; .* run catalogue drop gadgets$/,
    ],
    [
      'deletions without their resource',
      `CREATE TABLE gadgets ("gadgetID" text); SELECT install_deletions('gadgets', 'gadgetID'); DROP TABLE gadgets`,
      `SELECT remove_deletions('gadgets')`,
      /^the database has the resource gadgets, which the code has not; .* run catalogue drop gadgets$/,
    ],
  ])('by %s merely has more than they ask for', async (_, addition, removal, line) => {
    await query(addition);
    const found = await differences(service.dataSource);
    expect(found).not.toEqual([]);
    for (const each of found) {
      expect(lineOf(each)).toMatch(line);
      expect(each.isSurplus).toBe(true);
    }
    // An instance that starts leaves it alone.
    expect(await installDeclared(service.dataSource)).toEqual([]);
    await query(removal);
  });

  it('in what a generated column is made of is told, if the entity says something else', async () => {
    await query('ALTER TABLE brands ADD short text GENERATED ALWAYS AS (left(name, 3)) STORED');
    const installed = (await derivedColumns.read(service.dataSource, ['brands'])).get('brands');
    await query('ALTER TABLE brands DROP short');
    expect(installed).toEqual(
      new Map([
        ['nameOrder', ['name']],
        ['short', ['name']],
      ]),
    );
    const differencesOf = (derived: object): unknown => {
      @Resource('test_short_brands', { derived })
      class ShortBrand {}
      const metadata = { target: ShortBrand, tableName: 'brands', columns: [] };
      return derivedColumns.differences(metadata as never, installed);
    };
    expect(differencesOf({})).toEqual([]);
    expect(differencesOf({ short: ['name', 'brandID'] })).toEqual([]);
    expect(differencesOf({ short: ['brandID'] })).toEqual([
      {
        text: 'brands.short is made of name, its entity derives it from brandID',
        remedy: 'name them all in derived of @Resource',
      },
    ]);
  });

  it('by the storage parameters of an index is as declared', async () => {
    await query('ALTER INDEX brands_by_name SET (fillfactor = 70)');
    expect(await differences(service.dataSource)).toEqual([]);
  });
});
