import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Has the indexes of the lists of products carry `currency` and `stock`, and adds those by them, for the
 * filters `currency` and `stockMin`. The tally counts by `currency`. The column is compared byte by byte,
 * as every text that an index holds.
 */
export class FilterCurrencies1764374400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}

const INDEXES_BEFORE = [
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

const INDEXES = [
  ...INDEXES_BEFORE.map((index) => index.replace(/\)$/, ', "currency", "stock")')),
  'CREATE INDEX "products_by_currency" ON "products" ("currency", "productID") INCLUDE ("type", "categoryID", "brandID", "inStock", "price", "stock")',
  'CREATE INDEX "products_by_stock" ON "products" ("stock", "productID") INCLUDE ("type", "categoryID", "brandID", "inStock", "price", "currency")',
];

const COUNTED_BEFORE =
  'type,categoryID,brandID,inStock,categoryID+type,brandID+type,categoryID+brandID,categoryID+inStock,brandID+inStock,type+inStock';

const UP = [
  ...INDEXES_BEFORE.map(dropping),
  'ALTER TABLE "products" ALTER "currency" TYPE varchar(3) COLLATE "C"',
  ...INDEXES,
  installTally(`${COUNTED_BEFORE},currency,currency+type,categoryID+currency`),
];

const DOWN = [
  installTally(COUNTED_BEFORE),
  ...INDEXES.map(dropping),
  'ALTER TABLE "products" ALTER "currency" TYPE varchar(3) COLLATE "default"',
  ...INDEXES_BEFORE,
];

function dropping(index: string): string {
  return index.replace(/^CREATE INDEX (\S+) .*$/, 'DROP INDEX $1');
}

function installTally(counted: string): string {
  return `SELECT install_tally('products', 'productID', '{${counted}}',
    '{name,price,createdAt,updatedAt}', '{words}')`;
}
