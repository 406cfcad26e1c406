-- Who may ask, and with which tokens.

CREATE TABLE clients (
  "clientID" varchar(100) COLLATE "C" NOT NULL,
  name varchar(500) COLLATE "C",
  disabled boolean NOT NULL DEFAULT false,
  -- Requests a minute. Null: the service's own limit. 0: none.
  "rateLimit" integer,
  -- The names of the resources that it may read. Null: all.
  resources text[],
  -- The columns that it does not see, such as products.price.
  hidden text[] NOT NULL DEFAULT '{}',
  -- Whether everybody can read its token.
  "isPublic" boolean NOT NULL DEFAULT false,
  "createdAt" timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT "PK_4baf5b6f067f8cbd34aee400431" PRIMARY KEY ("clientID")
);

CREATE TABLE access_tokens (
  "tokenID" varchar(100) COLLATE "C" NOT NULL,
  "clientID" varchar(100) COLLATE "C" NOT NULL,
  -- SHA-256 of the token, which is stored nowhere.
  hash bytea NOT NULL,
  "expiresAt" timestamptz(3),
  "createdAt" timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT "PK_6349310d60b24f49683b2d12ed0" PRIMARY KEY ("tokenID"),
  CONSTRAINT "FK_b75090808780b9326050104a467" FOREIGN KEY ("clientID")
    REFERENCES clients ("clientID") ON DELETE CASCADE
);
CREATE INDEX "IDX_b75090808780b9326050104a46" ON access_tokens ("clientID");

-- The tables of the list engine. The functions that write them are in ../functions.

-- The resources that are searched, and the columns whose words they have. The first one is the title.
CREATE TABLE searches (
  resource text PRIMARY KEY,
  columns text[] NOT NULL
);

-- What the tally of each resource counts. See ../functions/tally.sql.
CREATE TABLE tallies (
  resource text COLLATE "C" PRIMARY KEY,
  identifier text NOT NULL,
  counted text[] NOT NULL,
  -- How often its ranges were cut.
  cuts bigint NOT NULL DEFAULT 0,
  sorted text[] NOT NULL DEFAULT '{}',
  searched text[] NOT NULL DEFAULT '{}',
  intervals text[] NOT NULL DEFAULT '{}'
);

-- A random stamp for each statement that writes to a resource. See ../functions/versions.sql.
CREATE TABLE resource_versions (
  resource text COLLATE "C" NOT NULL,
  stamp numeric NOT NULL DEFAULT 1 + floor(random() * 4611686018427387904::numeric),
  writer xid8 NOT NULL DEFAULT pg_current_xact_id(),
  folded_in pg_snapshot
);
CREATE INDEX resource_versions_writer ON resource_versions (resource, writer);
CREATE INDEX resource_versions_checkpoint ON resource_versions (resource, writer) WHERE folded_in IS NOT NULL;

-- One row: the watermark, and the next one, valid when every transaction below next_id has ended. Then the history of
-- the database, and where it was when the row was written. See ../functions/watermark.sql.
CREATE TABLE watermark (
  until timestamptz(3),
  next_until timestamptz(3),
  next_id xid8,
  -- A random number of nine digits.
  history integer,
  database oid,
  timeline integer,
  log_position pg_lsn,
  -- The last positions of the histories before, by their numbers.
  former jsonb
);
CREATE INDEX watermark_next_id ON watermark (next_id);
INSERT INTO watermark DEFAULT VALUES;

-- The minimum time of a write, in milliseconds since 1970. It only grows.
CREATE SEQUENCE watermark_floor;
SELECT setval('watermark_floor', floor(extract(epoch FROM clock_timestamp() - interval '1 second') * 1000)::bigint);
