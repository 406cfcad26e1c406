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
