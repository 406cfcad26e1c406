import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the tables of the catalogue. */
export class Baseline1764676800000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [BRANDS, CATEGORIES, PRODUCTS, VARIANTS])
      await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE variants, products, categories, brands');
    await runner.query('DROP FUNCTION keep_product_in_stock');
    await runner.query('DROP TYPE product_type');
  }
}

const BRANDS = `
CREATE TABLE brands (
  "brandID" varchar(100) COLLATE "C" NOT NULL,
  name varchar(500) COLLATE "C" NOT NULL,
  "createdAt" timestamptz(3) NOT NULL DEFAULT now(),
  "updatedAt" timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT "PK_ca9bea7fc8f88b7f79867125004" PRIMARY KEY ("brandID")
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX "IDX_6c78a2264f5005083aa79cfea4" ON brands ("updatedAt", "brandID");`;

const CATEGORIES = `
CREATE TABLE categories (
  "categoryID" varchar(100) COLLATE "C" NOT NULL,
  "parentID" varchar(100) COLLATE "C",
  name varchar(500) COLLATE "C" NOT NULL,
  "createdAt" timestamptz(3) NOT NULL DEFAULT now(),
  "updatedAt" timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT categories_parent CHECK ("parentID" <> "categoryID"),
  CONSTRAINT "PK_13da6162629fdaeccef5b784271" PRIMARY KEY ("categoryID"),
  CONSTRAINT "FK_d5e31feaf3ce60ee212a183e7b1" FOREIGN KEY ("parentID") REFERENCES categories ("categoryID")
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX "IDX_c34db25a26b04c2e25fa629cf8" ON categories ("updatedAt", "categoryID");`;

const PRODUCTS = `
CREATE TYPE product_type AS ENUM ('PHYSICAL', 'DIGITAL', 'SERVICE');

-- Counts by an index visit the objects that were written since the last vacuum. With the default scale factor, a fifth of the
-- objects, such lists take twice as long.
CREATE TABLE products (
  "productID" varchar(100) COLLATE "C" NOT NULL,
  "refID" varchar(100) COLLATE "C",
  type product_type NOT NULL,
  name varchar(500) COLLATE "C",
  description varchar(10000),
  "brandID" varchar(100) COLLATE "C",
  "categoryID" varchar(100) COLLATE "C",
  price numeric,
  currency varchar(3) COLLATE "C",
  stock integer,
  colours text[],
  "imageURL" varchar(2048),
  "createdAt" timestamptz(3) NOT NULL DEFAULT now(),
  "updatedAt" timestamptz(3) NOT NULL DEFAULT now(),
  words tsvector NOT NULL,
  "inStock" boolean,
  CONSTRAINT products_price CHECK (price >= 0 AND price < 1e15 AND scale(price) <= 4),
  CONSTRAINT products_price_currency CHECK (price IS NULL OR currency IS NOT NULL),
  CONSTRAINT products_currency CHECK (currency ~ '^[A-Z]{3}$'),
  CONSTRAINT "PK_caa33ce35fe9bdd6e7fd6268ac4" PRIMARY KEY ("productID"),
  CONSTRAINT "FK_5ccb0965288ca5e1def347ae94b" FOREIGN KEY ("brandID") REFERENCES brands ("brandID"),
  CONSTRAINT "FK_16bde4164ef1b208fdd30b0ce49" FOREIGN KEY ("categoryID") REFERENCES categories ("categoryID")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX "IDX_4cab5e81d29a3a64278a9c61d6" ON products ("refID", "productID");
CREATE INDEX "IDX_a936876b3de4619f018bbcd04e" ON products USING gin (words);
CREATE INDEX "IDX_adce9a56a04df460c3a2976855" ON products USING gin (colours);

-- A column of its own, so that the filter of that name compares a column like any other.
CREATE FUNCTION keep_product_in_stock() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."inStock" := NEW."stock" > 0;
  RETURN NEW;
END $$;

CREATE TRIGGER products_in_stock BEFORE INSERT OR UPDATE OF stock, "inStock" ON products
  FOR EACH ROW EXECUTE FUNCTION keep_product_in_stock();`;

const VARIANTS = `
CREATE TABLE variants (
  "variantID" varchar(100) COLLATE "C" NOT NULL,
  "productID" varchar(100) COLLATE "C" NOT NULL,
  name varchar(100) COLLATE "C" NOT NULL,
  price numeric,
  currency varchar(3) COLLATE "C",
  stock integer,
  "createdAt" timestamptz(3) NOT NULL DEFAULT now(),
  "updatedAt" timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT variants_price CHECK (price >= 0 AND price < 1e15 AND scale(price) <= 4),
  CONSTRAINT variants_price_currency CHECK (price IS NULL OR currency IS NOT NULL),
  CONSTRAINT variants_currency CHECK (currency ~ '^[A-Z]{3}$'),
  CONSTRAINT "PK_7f30c3d5bd83838bbc7bc9e4508" PRIMARY KEY ("variantID"),
  CONSTRAINT "FK_28dfce2abd4a0e48de1ef47439b" FOREIGN KEY ("productID") REFERENCES products ("productID") ON DELETE CASCADE
) WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX "IDX_d76a8c43e826f9fa974ac048f4" ON variants ("updatedAt", "variantID");`;
