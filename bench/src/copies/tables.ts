import type pg from 'pg';

/** The fields of a product, and how a copy and the comparison have them. A decimal is compared digit by digit. */
const COLUMNS = {
  productID: 'text COLLATE "C"',
  refID: 'text',
  type: 'text',
  name: 'text',
  description: 'text',
  brandID: 'text',
  categoryID: 'text',
  price: 'text',
  currency: 'text',
  stock: 'integer',
  colours: 'text[]',
  imageURL: 'text',
  createdAt: 'timestamptz(3)',
  updatedAt: 'timestamptz(3)',
};

const NAMES = Object.keys(COLUMNS)
  .map((name) => `"${name}"`)
  .join(', ');
const DEFINITIONS = Object.entries(COLUMNS)
  .map(([name, type]) => `"${name}" ${type}`)
  .join(', ');

/** The tables that each transaction of a writer changes alike: that of the service, and that of the usual service. */
export const TABLES = ['public.products', 'usual.products'] as const;
export type Table = (typeof TABLES)[number];

/**
 * The product by which it is known how far behind a copy is: its `name` is a number that grows. It is the last one by
 * identifier, so that a new copy has it last.
 */
export const BEACON = 'z';

/** Creates the table of the usual service, with the products of the service. Its `updatedAt` is what a writer sets. */
export async function createUsual(primary: pg.Client): Promise<void> {
  await primary.query(`
    INSERT INTO public.products ("productID", type, name) VALUES ('${BEACON}', 'SERVICE', '0');
    CREATE SCHEMA usual;
    CREATE TABLE usual.products (LIKE public.products INCLUDING DEFAULTS);
    ALTER TABLE usual.products DROP words, DROP "inStock", ALTER "updatedAt" SET DEFAULT now();
    INSERT INTO usual.products (${NAMES}) SELECT ${NAMES} FROM public.products;
    ALTER TABLE usual.products ADD PRIMARY KEY ("productID");
    CREATE INDEX ON usual.products ("updatedAt", "productID");
    ANALYZE`);
}

/** Where the copies are, and the tables of the primary as foreign tables. */
export async function createCopies(
  client: pg.Client,
  names: readonly string[],
  primary: { readonly port: number; readonly password: string },
): Promise<void> {
  await client.query(`
    CREATE TABLE copies (
      name text PRIMARY KEY, cursor text,
      begun integer NOT NULL DEFAULT 0, done integer NOT NULL DEFAULT 0, cleared integer NOT NULL DEFAULT 0
    );
    CREATE TABLE differences (
      comparison integer NOT NULL, copy text NOT NULL, kind text NOT NULL, "productID" text NOT NULL
    );
    CREATE EXTENSION postgres_fdw;
    CREATE SERVER source FOREIGN DATA WRAPPER postgres_fdw
      OPTIONS (host '127.0.0.1', port '${primary.port}', dbname 'catalogue', fetch_size '10000');
    CREATE USER MAPPING FOR postgres SERVER source
      OPTIONS (user 'catalogue', password '${primary.password}')`);
  for (const table of TABLES) {
    const [schema, name] = table.split('.');
    await client.query(`CREATE FOREIGN TABLE ${sourceOf(table)} (${DEFINITIONS}) SERVER source
      OPTIONS (schema_name '${schema}', table_name '${name}')`);
  }
  for (const name of names) {
    await client.query(`CREATE TABLE "${name}" (${DEFINITIONS}, PRIMARY KEY ("productID"))`);
    await client.query('INSERT INTO copies (name) VALUES ($1)', [name]);
  }
}

function sourceOf(table: Table): string {
  return table.replace('.', '_');
}

/** Compares each copy with its table, on full rows. Keeps what differs as rows of `differences`. */
export async function compare(
  client: pg.Client,
  comparison: number,
  copies: readonly { readonly name: string; readonly table: Table }[],
): Promise<void> {
  for (const table of TABLES) {
    await client.query(`CREATE TEMP TABLE rows ON COMMIT PRESERVE ROWS AS
      SELECT ${NAMES} FROM ${sourceOf(table)}`);
    for (const { name } of copies.filter((copy) => copy.table === table)) {
      await client.query(
        `WITH lacking AS (SELECT * FROM rows EXCEPT SELECT ${NAMES} FROM "${name}"),
           extra AS (SELECT ${NAMES} FROM "${name}" EXCEPT SELECT * FROM rows)
         INSERT INTO differences
         SELECT $1, $2, CASE WHEN extra.type IS NULL THEN 'missed' WHEN lacking.type IS NULL THEN 'left over'
           ELSE 'old' END, "productID"
         FROM lacking FULL JOIN extra USING ("productID")`,
        [comparison, name],
      );
    }
    await client.query('DROP TABLE rows');
  }
}

/** What a comparison found, in a line. */
export async function differences(client: pg.Client, comparison: number): Promise<string> {
  const { rows } = await client.query<{ line: string }>(
    `SELECT concat(copy, ': ', count(*), ' ', kind, ' such as ', min("productID")) AS line
     FROM differences WHERE comparison = $1 GROUP BY copy, kind ORDER BY copy, kind`,
    [comparison],
  );
  return rows.map(({ line }) => line).join('; ') || 'no difference';
}

/** The values of a statement that puts objects, as JSON, into a copy. */
export function putting(name: string): string {
  const set = Object.keys(COLUMNS)
    .slice(1)
    .map((column) => `"${column}" = excluded."${column}"`);
  return `INSERT INTO "${name}" AS kept SELECT * FROM jsonb_populate_recordset(NULL::"${name}", $1)
    ON CONFLICT ("productID") DO UPDATE SET ${set.join(', ')} WHERE kept IS DISTINCT FROM excluded`;
}
