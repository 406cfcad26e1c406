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

-- The indexes of the lists carry the filtered columns, so that a combination of filters is evaluated within one.
CREATE INDEX "products_by_productID" ON products ("productID")
  INCLUDE (type, "categoryID", "brandID", "inStock", price, currency, stock);
CREATE INDEX products_by_type ON products (type, "productID")
  INCLUDE ("categoryID", "brandID", "inStock", price, currency, stock);
CREATE INDEX "products_by_categoryID" ON products ("categoryID", "productID")
  INCLUDE (type, "brandID", "inStock", price, currency, stock);
CREATE INDEX "products_by_brandID" ON products ("brandID", "productID")
  INCLUDE (type, "categoryID", "inStock", price, currency, stock);
CREATE INDEX "products_by_inStock" ON products ("inStock", "productID")
  INCLUDE (type, "categoryID", "brandID", price, currency, stock);
CREATE INDEX products_by_price ON products (price, "productID")
  INCLUDE (type, "categoryID", "brandID", "inStock", currency, stock);
CREATE INDEX products_by_currency ON products (currency, "productID")
  INCLUDE (type, "categoryID", "brandID", "inStock", price, stock);
CREATE INDEX products_by_stock ON products (stock, "productID")
  INCLUDE (type, "categoryID", "brandID", "inStock", price, currency);
CREATE INDEX products_by_name ON products (name, "productID")
  INCLUDE (type, "inStock", price, currency, stock);
CREATE INDEX "products_by_createdAt" ON products ("createdAt", "productID")
  INCLUDE (type, "categoryID", "brandID", "inStock", price, currency, stock);
CREATE INDEX "products_by_updatedAt" ON products ("updatedAt", "productID")
  INCLUDE (type, "categoryID", "brandID", "inStock", price, currency, stock);
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
  FOR EACH ROW EXECUTE FUNCTION keep_product_in_stock();
CREATE TRIGGER products_updated_at BEFORE INSERT OR UPDATE ON products
  FOR EACH ROW EXECUTE FUNCTION keep_updated_at();
SELECT install_words('products', '{name,description}');
SELECT install_tally('products', 'productID',
  '{type,categoryID,brandID,inStock,categoryID+type,brandID+type,categoryID+brandID,categoryID+inStock,'
  'brandID+inStock,type+inStock,currency,currency+type,categoryID+currency,categoryID+type+inStock,'
  'brandID+type+inStock,currency+type+inStock,colours}',
  '{name,price,createdAt,updatedAt}', '{words}', '{categoryID+price,categoryID+type+price,brandID+price}');
SELECT install_deletions('products', 'productID');
