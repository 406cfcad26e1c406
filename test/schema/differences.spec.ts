import { describe, expect, it } from '@jest/globals';
import { lineOf } from '../../src/schema/difference.js';
import { derivedColumns } from '../../src/schema/parts/derived.js';
import { Resource } from '../../src/resource/index.js';
import { differences } from '../../src/schema/differences.js';
import { sharedService } from '../service.js';
import {
  CATEGORY_MISSING,
  INSTALL_PRODUCTS_TALLY as TALLY,
  WITHOUT_CATEGORY,
} from './products-tally.js';

const service = sharedService();

const query = (sql: string) => service.dataSource.query<unknown[]>(sql);
const MIGRATION = 'run npm run migration -- <name> and catalogue migrate';

const BY_PRICE =
  'CREATE INDEX "products_by_price" ON "products" ("price", "productID") ' +
  'INCLUDE ("type", "categoryID", "brandID", "inStock", "currency", "stock")';

const DELETIONS = `SELECT install_deletions('categories', 'categoryID')`;
const KEEPER =
  'CREATE TRIGGER "brands_updated_at" BEFORE INSERT OR UPDATE ON "brands" FOR EACH ROW EXECUTE FUNCTION "keep_updated_at"()';

/** A damaging statement, the expected difference, the affected resource, and the repair. */
type Damage = [damage: string, line: string, of: string | undefined, mend: string];

/** One that a migration repairs. */
const damaged = (damage: string, line: string, of: string | undefined, mend: string): Damage => {
  return [damage, `${line}; ${MIGRATION}, or if a migration has it already: ${mend}`, of, mend];
};

const NO_PRICE =
  'has ranges by name, createdAt, updatedAt, its entity by name, price, createdAt, updatedAt';
const ENABLE = 'ALTER TABLE "products" ENABLE ALWAYS TRIGGER "products_tally_update"';
const ENABLE_KEEPER = 'ALTER TABLE "brands" ENABLE TRIGGER "brands_updated_at"';
const NO_TABLES = 'products_tally_by_price, products_tally_by_words_counted';

const damages: Damage[] = [
  [WITHOUT_CATEGORY, CATEGORY_MISSING, 'products', TALLY],
  damaged(TALLY.replace('price,', ''), `the tally of products ${NO_PRICE}`, 'products', TALLY),
  damaged(`SELECT remove_tally('products')`, 'products has no tally', 'products', TALLY),
  damaged(`DROP TABLE ${NO_TABLES}`, `products has no table ${NO_TABLES}`, 'products', TALLY),
  damaged(
    // As where the type was a text when the tally was installed.
    `UPDATE tallies SET orders = replace(orders::text, '["", "type", ', '["", ')::jsonb WHERE resource = 'products'`,
    'the tally of products was installed when columns had other types',
    'products',
    TALLY,
  ),
  damaged(
    'DROP TRIGGER products_tally_insert ON products',
    'products has no trigger products_tally_insert',
    'products',
    TALLY,
  ),
  [
    'ALTER TABLE products DISABLE TRIGGER products_tally_update',
    `the trigger products_tally_update on products is disabled; run ${ENABLE}`,
    'products',
    ENABLE,
  ],
  [
    'ALTER TABLE brands ENABLE REPLICA TRIGGER brands_updated_at',
    `the trigger brands_updated_at on brands is disabled; run ${ENABLE_KEEPER}`,
    'brands',
    ENABLE_KEEPER,
  ],
  damaged(
    'DROP TRIGGER brands_updated_at ON brands',
    'brands has no trigger that keeps updatedAt',
    'brands',
    KEEPER,
  ),
  damaged(
    'DROP TRIGGER categories_deletions_rename ON categories',
    'categories has no trigger categories_deletions_rename',
    'categories',
    DELETIONS,
  ),
  damaged(
    'DROP TABLE categories_deletions',
    'categories has no table categories_deletions',
    'categories',
    DELETIONS,
  ),
  [
    `SELECT install_words('products', '{name,refID,description}')`,
    'products.words is made of name, refID, description, its entity derives it from name, description; name them all in derived of @Resource',
    'products',
    `SELECT install_words('products', '{name,description}')`,
  ],
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
  damaged(
    'DROP INDEX products_by_price',
    'products has no index products_by_price',
    undefined,
    BY_PRICE,
  ),
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
      undefined,
      `DROP INDEX "products_by_price"; ${BY_PRICE}`,
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
    await query(mend);
    expect(await differences(service.dataSource)).toEqual([]);
  });

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
      /^the index brands_by_createdAt on brands is not declared; .*: DROP INDEX "brands_by_createdAt"$/,
    ],
    [
      'a column of a later release',
      'ALTER TABLE brands ADD COLUMN later text',
      'ALTER TABLE brands DROP COLUMN later',
      /lacking: ALTER TABLE "brands" DROP COLUMN "later"/,
    ],
    [
      'a counted column of a later release',
      `SELECT install_tally('brands', 'brandID', '{name}', '{name}')`,
      `SELECT install_tally('brands', 'brandID', '{}', '{name}')`,
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
    expect(found.map(lineOf)).toEqual([expect.stringMatching(line)]);
    expect(found[0]?.isSurplus).toBe(true);
    await query(removal);
  });

  it('in what a generated column is made of is told, if the entity says something else', async () => {
    await query('ALTER TABLE brands ADD short text GENERATED ALWAYS AS (left(name, 3)) STORED');
    const installed = (await derivedColumns.read(service.dataSource)).get('brands');
    await query('ALTER TABLE brands DROP short');
    expect(installed).toEqual(new Map([['short', ['name']]]));
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
