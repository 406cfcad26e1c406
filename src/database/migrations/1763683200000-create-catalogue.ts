import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The initial schema. Constraints and indexes have the names that TypeORM generates for them. */
export class CreateCatalogue1763683200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
    for (const table of ['brands', 'categories', 'products']) {
      await runner.query(
        `CREATE TRIGGER "${table}_updated_at" BEFORE INSERT OR UPDATE ON "${table}"
         FOR EACH ROW EXECUTE FUNCTION "keep_updated_at"()`,
      );
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE "access_tokens", "clients", "products", "categories", "brands"');
    await runner.query('DROP TYPE "product_type"');
    await runner.query(
      'DROP FUNCTION "keep_updated_at"(), "keep_product_words"(), "search_text"(text)',
    );
  }
}

/** Word separators beside white space. Each is one UTF-16 code unit; none is a single quote. */
export const SEPARATORS =
  '!"#$%&()*+,-./:;<=>?@[]^_`{|}~\u2010\u2011\u2012\u2013\u2014\u2018\u2019\u201c\u201d\u201e\u2026\u00ab\u00bb\u00b7\u00d7';

const STATEMENTS = [
  `CREATE FUNCTION "keep_updated_at"() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     NEW."updatedAt" := now();
     RETURN NEW;
   END $$`,
  `CREATE TABLE "brands" (
     "brandID" varchar(100) COLLATE "C" NOT NULL,
     "name" varchar(500) COLLATE "C" NOT NULL,
     "createdAt" timestamptz(3) NOT NULL DEFAULT now(),
     "updatedAt" timestamptz(3) NOT NULL DEFAULT now(),
     CONSTRAINT "PK_ca9bea7fc8f88b7f79867125004" PRIMARY KEY ("brandID")
   )`,
  'CREATE INDEX "IDX_2ce621075c4ee73dc26b942065" ON "brands" ("name", "brandID")',
  `CREATE TABLE "categories" (
     "categoryID" varchar(100) COLLATE "C" NOT NULL,
     "parentID" varchar(100) COLLATE "C",
     "name" varchar(500) COLLATE "C" NOT NULL,
     "createdAt" timestamptz(3) NOT NULL DEFAULT now(),
     "updatedAt" timestamptz(3) NOT NULL DEFAULT now(),
     CONSTRAINT "categories_parent" CHECK ("parentID" <> "categoryID"),
     CONSTRAINT "PK_13da6162629fdaeccef5b784271" PRIMARY KEY ("categoryID"),
     CONSTRAINT "FK_d5e31feaf3ce60ee212a183e7b1" FOREIGN KEY ("parentID") REFERENCES "categories" ("categoryID")
   )`,
  'CREATE INDEX "IDX_a83e1badcab3331e48397424c5" ON "categories" ("name", "categoryID")',
  'CREATE INDEX "IDX_01d6980875d0db276a09badc07" ON "categories" ("parentID", "categoryID")',
  `CREATE TYPE "product_type" AS ENUM ('PHYSICAL', 'DIGITAL', 'SERVICE')`,
  `CREATE TABLE "products" (
     "productID" varchar(100) COLLATE "C" NOT NULL,
     "refID" varchar(100) COLLATE "C",
     "type" "product_type" NOT NULL,
     "name" varchar(500) COLLATE "C",
     "description" varchar(10000),
     "brandID" varchar(100) COLLATE "C",
     "categoryID" varchar(100) COLLATE "C",
     "price" numeric,
     "currency" varchar(3),
     "stock" integer,
     "imageURL" varchar(2048),
     "createdAt" timestamptz(3) NOT NULL DEFAULT now(),
     "updatedAt" timestamptz(3) NOT NULL DEFAULT now(),
     "words" tsvector NOT NULL,
     CONSTRAINT "products_price" CHECK (price >= 0 AND price < 1e15 AND scale(price) <= 4),
     CONSTRAINT "products_price_currency" CHECK (price IS NULL OR currency IS NOT NULL),
     CONSTRAINT "products_currency" CHECK (currency ~ '^[A-Z]{3}$'),
     CONSTRAINT "PK_caa33ce35fe9bdd6e7fd6268ac4" PRIMARY KEY ("productID"),
     CONSTRAINT "FK_5ccb0965288ca5e1def347ae94b" FOREIGN KEY ("brandID") REFERENCES "brands" ("brandID"),
     CONSTRAINT "FK_16bde4164ef1b208fdd30b0ce49" FOREIGN KEY ("categoryID") REFERENCES "categories" ("categoryID")
   )`,
  'CREATE INDEX "IDX_e0756e648feb0a23447af4a5fc" ON "products" ("type", "productID")',
  'CREATE INDEX "IDX_4cab5e81d29a3a64278a9c61d6" ON "products" ("refID", "productID")',
  'CREATE INDEX "IDX_0ba6db84492abc00e49c197dc3" ON "products" ("name", "productID")',
  'CREATE INDEX "IDX_aff35c795c72f8cf0e3a5860e0" ON "products" ("brandID", "productID")',
  'CREATE INDEX "IDX_466ba059e458f093879bed26bb" ON "products" ("categoryID", "productID")',
  'CREATE INDEX "IDX_ec0bc4a6b6226bef1b0d73ef6d" ON "products" ("price", "productID")',
  'CREATE INDEX "IDX_7415f8c018acf5bc9e5c09488d" ON "products" ("stock", "productID")',
  'CREATE INDEX "IDX_bd6d68e45807fc83df1fd976e1" ON "products" ("createdAt", "productID")',
  'CREATE INDEX "IDX_e9831b492460c7b19306fafd49" ON "products" ("updatedAt", "productID")',
  'CREATE INDEX "IDX_a936876b3de4619f018bbcd04e" ON "products" USING gin ("words")',
  // PostgreSQL's text search parser reads "wool/cotton" as a path, and "3-4" as 3 and -4.
  `CREATE FUNCTION "search_text"(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
     SELECT translate(normalize($1), '${SEPARATORS}', '${' '.repeat(SEPARATORS.length)}')
   $$`,
  `CREATE FUNCTION "keep_product_words"() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     NEW."words" := to_tsvector('simple', search_text(concat_ws(' ', NEW."name", NEW."description")));
     RETURN NEW;
   END $$`,
  `CREATE TRIGGER "products_words" BEFORE INSERT OR UPDATE OF "name", "description" ON "products"
   FOR EACH ROW EXECUTE FUNCTION "keep_product_words"()`,
  `CREATE TABLE "clients" (
     "clientID" varchar(100) COLLATE "C" NOT NULL,
     "name" varchar(500) COLLATE "C",
     "disabled" boolean NOT NULL DEFAULT false,
     "rateLimit" integer,
     "createdAt" timestamptz(3) NOT NULL DEFAULT now(),
     CONSTRAINT "PK_4baf5b6f067f8cbd34aee400431" PRIMARY KEY ("clientID")
   )`,
  `CREATE TABLE "access_tokens" (
     "tokenID" varchar(100) COLLATE "C" NOT NULL,
     "clientID" varchar(100) COLLATE "C" NOT NULL,
     "hash" bytea NOT NULL,
     "expiresAt" timestamptz(3),
     "createdAt" timestamptz(3) NOT NULL DEFAULT now(),
     CONSTRAINT "PK_6349310d60b24f49683b2d12ed0" PRIMARY KEY ("tokenID"),
     CONSTRAINT "FK_b75090808780b9326050104a467" FOREIGN KEY ("clientID") REFERENCES "clients" ("clientID") ON DELETE CASCADE
   )`,
  'CREATE INDEX "IDX_b75090808780b9326050104a46" ON "access_tokens" ("clientID")',
];
