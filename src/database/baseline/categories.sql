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
CREATE INDEX "categories_by_categoryID" ON categories ("categoryID") INCLUDE ("parentID");
CREATE INDEX "categories_by_parentID" ON categories ("parentID", "categoryID");
CREATE INDEX categories_by_name ON categories (name, "categoryID");
CREATE INDEX "IDX_c34db25a26b04c2e25fa629cf8" ON categories ("updatedAt", "categoryID");

CREATE TRIGGER categories_updated_at BEFORE INSERT OR UPDATE ON categories
  FOR EACH ROW EXECUTE FUNCTION keep_updated_at();
SELECT install_tally('categories', 'categoryID', '{}', '{name}');
SELECT install_deletions('categories', 'categoryID');
