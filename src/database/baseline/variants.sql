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

CREATE INDEX "variants_by_variantID" ON variants ("variantID") INCLUDE ("productID", name, price, stock);
CREATE INDEX "variants_by_productID" ON variants ("productID", "variantID") INCLUDE (name, price, stock);
CREATE INDEX variants_by_name ON variants (name, "variantID") INCLUDE ("productID", price, stock);
CREATE INDEX variants_by_price ON variants (price, "variantID") INCLUDE ("productID", name, stock);
CREATE INDEX variants_by_stock ON variants (stock, "variantID") INCLUDE ("productID", name, price);
CREATE INDEX "IDX_d76a8c43e826f9fa974ac048f4" ON variants ("updatedAt", "variantID");

CREATE TRIGGER variants_updated_at BEFORE INSERT OR UPDATE ON variants
  FOR EACH ROW EXECUTE FUNCTION keep_updated_at();
SELECT install_tally('variants', 'variantID', '{name}', '{name,price}');
SELECT install_deletions('variants', 'variantID');
