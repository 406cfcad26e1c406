import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Replaces the indexes of the lists by ones that carry the filtered columns, and adds the column
 * `inStock`, so that the filter of that name compares a column like any other.
 */
export class CoverLists1764028800000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}

/** The indexes as TypeORM derived them. */
const INDEXES_BEFORE = [
  'CREATE INDEX "IDX_2ce621075c4ee73dc26b942065" ON "brands" ("name", "brandID")',
  'CREATE INDEX "IDX_a83e1badcab3331e48397424c5" ON "categories" ("name", "categoryID")',
  'CREATE INDEX "IDX_01d6980875d0db276a09badc07" ON "categories" ("parentID", "categoryID")',
  'CREATE INDEX "IDX_e0756e648feb0a23447af4a5fc" ON "products" ("type", "productID")',
  'CREATE INDEX "IDX_0ba6db84492abc00e49c197dc3" ON "products" ("name", "productID")',
  'CREATE INDEX "IDX_aff35c795c72f8cf0e3a5860e0" ON "products" ("brandID", "productID")',
  'CREATE INDEX "IDX_466ba059e458f093879bed26bb" ON "products" ("categoryID", "productID")',
  'CREATE INDEX "IDX_ec0bc4a6b6226bef1b0d73ef6d" ON "products" ("price", "productID")',
  'CREATE INDEX "IDX_7415f8c018acf5bc9e5c09488d" ON "products" ("stock", "productID")',
  'CREATE INDEX "IDX_bd6d68e45807fc83df1fd976e1" ON "products" ("createdAt", "productID")',
  'CREATE INDEX "IDX_e9831b492460c7b19306fafd49" ON "products" ("updatedAt", "productID")',
];

/** The indexes that follow from the columns that the entities declare as filtered and sorted. */
const INDEXES = [
  'CREATE INDEX "brands_by_name" ON "brands" ("name", "brandID")',
  'CREATE INDEX "categories_by_categoryID" ON "categories" ("categoryID") INCLUDE ("parentID")',
  'CREATE INDEX "categories_by_parentID" ON "categories" ("parentID", "categoryID")',
  'CREATE INDEX "categories_by_name" ON "categories" ("name", "categoryID")',
  'CREATE INDEX "products_by_productID" ON "products" ("productID") INCLUDE ("type", "categoryID", "brandID", "inStock", "price")',
  'CREATE INDEX "products_by_type" ON "products" ("type", "productID") INCLUDE ("categoryID", "brandID", "inStock", "price")',
  'CREATE INDEX "products_by_categoryID" ON "products" ("categoryID", "productID") INCLUDE ("type", "brandID", "inStock", "price")',
  'CREATE INDEX "products_by_brandID" ON "products" ("brandID", "productID") INCLUDE ("type", "categoryID", "inStock", "price")',
  'CREATE INDEX "products_by_inStock" ON "products" ("inStock", "productID") INCLUDE ("type", "categoryID", "brandID", "price")',
  'CREATE INDEX "products_by_price" ON "products" ("price", "productID") INCLUDE ("type", "categoryID", "brandID", "inStock")',
  'CREATE INDEX "products_by_name" ON "products" ("name", "productID") INCLUDE ("type", "inStock", "price")',
  'CREATE INDEX "products_by_createdAt" ON "products" ("createdAt", "productID") INCLUDE ("type", "categoryID", "brandID", "inStock", "price")',
  'CREATE INDEX "products_by_updatedAt" ON "products" ("updatedAt", "productID") INCLUDE ("type", "categoryID", "brandID", "inStock", "price")',
];

const UP = [
  // Before the column is added, which rewrites the table with the indexes that it has.
  ...INDEXES_BEFORE.map(dropping),
  // Fills the column without an UPDATE, which would change updatedAt, the tally and the version.
  'ALTER TABLE "products" ADD "inStock" boolean GENERATED ALWAYS AS ("stock" > 0) STORED',
  // TypeORM keeps the expressions of generated columns in a table of its own, which there is none of.
  'ALTER TABLE "products" ALTER COLUMN "inStock" DROP EXPRESSION',
  `CREATE FUNCTION "keep_product_in_stock"() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     NEW."inStock" := NEW."stock" > 0;
     RETURN NEW;
   END $$`,
  `CREATE TRIGGER "products_in_stock" BEFORE INSERT OR UPDATE OF "stock", "inStock" ON "products"
   FOR EACH ROW EXECUTE FUNCTION "keep_product_in_stock"()`,
  ...INDEXES,
];

const DOWN = [
  ...INDEXES.map(dropping),
  'DROP TRIGGER "products_in_stock" ON "products"',
  'DROP FUNCTION "keep_product_in_stock"()',
  'ALTER TABLE "products" DROP COLUMN "inStock"',
  ...INDEXES_BEFORE,
];

function dropping(index: string): string {
  return index.replace(/^CREATE INDEX (\S+) .*$/, 'DROP INDEX $1');
}
