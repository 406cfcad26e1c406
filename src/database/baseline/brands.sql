CREATE TABLE brands (
  "brandID" varchar(100) COLLATE "C" NOT NULL,
  name varchar(500) COLLATE "C" NOT NULL,
  "createdAt" timestamptz(3) NOT NULL DEFAULT now(),
  "updatedAt" timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT "PK_ca9bea7fc8f88b7f79867125004" PRIMARY KEY ("brandID")
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX brands_by_name ON brands (name, "brandID");
CREATE INDEX "IDX_6c78a2264f5005083aa79cfea4" ON brands ("updatedAt", "brandID");

CREATE TRIGGER brands_updated_at BEFORE INSERT OR UPDATE ON brands
  FOR EACH ROW EXECUTE FUNCTION keep_updated_at();
SELECT install_tally('brands', 'brandID', '{}', '{name}');
SELECT install_deletions('brands', 'brandID');
