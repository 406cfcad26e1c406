import type pg from 'pg';

const TIMES = { createdAt: 'timestamptz(3)', updatedAt: 'timestamptz(3)' };
const PRICE = { price: 'numeric', currency: 'text', stock: 'integer' };

/** A reference of a copy is checked when a round commits. */
function reference(table: string): string {
  return `text REFERENCES ${table} DEFERRABLE INITIALLY DEFERRED`;
}

/** The resources, those first that others refer to, with the columns of their copies. The first one is the identifier. */
export const RESOURCES = {
  brands: { brandID: 'text', name: 'text', ...TIMES },
  categories: { categoryID: 'text', parentID: reference('categories'), name: 'text', ...TIMES },
  products: {
    ...{ productID: 'text', refID: 'text', type: 'text', name: 'text', description: 'text' },
    ...{ brandID: reference('brands'), categoryID: reference('categories'), ...PRICE },
    ...{ colours: 'text[]', imageURL: 'text', ...TIMES },
  },
  variants: {
    ...{ variantID: 'text', productID: reference('products'), name: 'text' },
    ...{ ...PRICE, ...TIMES },
  },
} as const;

const ENTRIES = Object.entries<Readonly<Record<string, string>>>(RESOURCES);

/**
 * The category that every transaction updates last. Its name is the number of the transaction and a token of its own, since
 * a number comes again when a commit was lost. It makes the order of all commits.
 */
export const CLOCK = `SELECT name FROM categories WHERE "categoryID" = 'clock'`;
const NUMBER = `split_part(name, ' ', 1)::bigint`;
export const TICK = `UPDATE categories SET name = (${NUMBER} + 1) || ' ' || $1 WHERE "categoryID" = 'clock' RETURNING name`;

/** A moment of the source: the number of the last commit, and the token that tells it from one that was lost. */
export interface Moment {
  readonly n: number;
  readonly token: string;
}

export function momentOf(name: string | undefined): Moment {
  const [n, token = ''] = (name ?? '').split(' ');
  return { n: Number(n === '' ? NaN : n), token };
}

/** Each change of a row goes to a log in the same transaction. The entry of the clock has the number of the transaction. */
export async function createLog(source: pg.Client): Promise<void> {
  await source.query(`
    CREATE SCHEMA moments;
    CREATE TABLE moments.log (
      at bigserial, transaction xid8 NOT NULL DEFAULT pg_current_xact_id(),
      resource text NOT NULL, identifier text NOT NULL, row jsonb, name text
    );
    CREATE INDEX ON moments.log (transaction);
    CREATE INDEX ON moments.log ((${NUMBER})) WHERE identifier = 'clock';
    CREATE FUNCTION moments.keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF TG_OP <> 'INSERT' THEN
        INSERT INTO moments.log (resource, identifier) VALUES (TG_TABLE_NAME, to_jsonb(OLD) ->> TG_ARGV[0]);
      END IF;
      IF TG_OP <> 'DELETE' THEN
        INSERT INTO moments.log (resource, identifier, row, name) VALUES (TG_TABLE_NAME, to_jsonb(NEW) ->> TG_ARGV[0],
          to_jsonb(NEW) - '{words,inStock,nameOrder}'::text[], NEW.name);
      END IF;
      RETURN NULL;
    END $$`);
  for (const [name, columns] of ENTRIES) {
    const [identifier] = Object.keys(columns);
    await source.query(`CREATE TRIGGER moments AFTER INSERT OR UPDATE OR DELETE ON ${name}
      FOR EACH ROW EXECUTE FUNCTION moments.keep('${identifier}')`);
  }
}

/** The tables of some copies, each in a schema of its own, and what is found out about them. */
export async function createCopies(client: pg.Client, names: readonly string[]): Promise<void> {
  await client.query(`
    CREATE TABLE reads (copy text NOT NULL, n bigint NOT NULL, token text NOT NULL, call bigint NOT NULL, return bigint);
    CREATE TABLE comparisons (copy text NOT NULL, n bigint NOT NULL, differences text[] NOT NULL, lost boolean NOT NULL);
    CREATE TABLE failures (copy text NOT NULL, message text NOT NULL)`);
  for (const name of names) {
    await client.query(`CREATE SCHEMA "${name}"; SET search_path TO "${name}"`);
    await client.query('CREATE TABLE cursor AS SELECT NULL::text AS cursor, 0 AS begun');
    for (const [resource, columns] of ENTRIES) {
      const [first, ...others] = Object.entries(columns).map(([key, type]) => `"${key}" ${type}`);
      await client.query(`CREATE TABLE ${resource} (${first} PRIMARY KEY, ${others.join(', ')})`);
    }
  }
  await client.query('RESET search_path');
}

/** A store of the client for a table of a copy. What its methods do belongs to the transaction of the connection. */
export function storeOf(client: pg.Client, name: keyof typeof RESOURCES): object {
  const [identifier, ...others] = Object.keys(RESOURCES[name]);
  const set = others.map((column) => `"${column}" = excluded."${column}"`);
  const put = `INSERT INTO ${name} SELECT * FROM jsonb_populate_recordset(NULL::${name}, $1)
    ON CONFLICT ("${identifier}") DO UPDATE SET ${set.join(', ')}`;
  return {
    clear: () => client.query(`DELETE FROM ${name}`),
    put: (objects: readonly object[]) => client.query(put, [JSON.stringify(objects)]),
    delete: (identifiers: readonly string[]) =>
      client.query(`DELETE FROM ${name} WHERE "${identifier}" = ANY ($1)`, [identifiers]),
  };
}

/** Each object as text, by resource and identifier. */
export type State = Map<string, string>;

export async function stateOf(copy: pg.Client): Promise<State> {
  const tables = ENTRIES.map(([name, columns]) => {
    const [identifier] = Object.keys(columns);
    return `SELECT '${name}/' || "${identifier}" AS key, to_jsonb(each)::text AS text FROM ${name} AS each`;
  });
  const { rows } = await copy.query<Entry>(tables.join(' UNION ALL '));
  return new Map(rows.map(({ key, text }) => [key, text ?? '']));
}

interface Entry {
  readonly key: string;
  readonly text: string | null;
}

/** The state of the source at its moments, as the fold of the log. */
export class Source {
  private moment: Moment = { n: -1, token: '' };
  private state: State = new Map();

  /** @returns `undefined` if the moment was lost */
  async at(client: pg.Client, moment: Moment): Promise<State | undefined> {
    // All of one snapshot.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    try {
      if (!(await this.has(client, moment))) return undefined;
      if (moment.n < this.moment.n || !(await this.has(client, this.moment))) {
        this.moment = { n: -1, token: '' };
        this.state = new Map();
      }
      const { rows } = await client.query<Entry>(
        `SELECT DISTINCT ON (key) resource || '/' || identifier AS key, row::text AS text FROM moments.log
         JOIN (SELECT transaction, ${NUMBER} AS n FROM moments.log
           WHERE identifier = 'clock' AND ${NUMBER} > $1 AND ${NUMBER} <= $2 AND row IS NOT NULL) AS commits USING (transaction)
         ORDER BY key, n DESC, at DESC`,
        [this.moment.n, moment.n],
      );
      for (const { key, text } of rows) {
        if (text === null) this.state.delete(key);
        else this.state.set(key, text);
      }
      this.moment = moment;
      return this.state;
    } finally {
      await client.query('COMMIT');
    }
  }

  private async has(client: pg.Client, { n, token }: Moment): Promise<boolean> {
    const { rowCount } = await client.query(
      `SELECT FROM moments.log WHERE identifier = 'clock' AND ${NUMBER} = $1 AND name = $2`,
      [n, `${n} ${token}`],
    );
    return (rowCount ?? 0) > 0;
  }
}

/** The objects in which two states differ. */
export function differing(one: State, other: State): string[] {
  return [...new Set([...one.keys(), ...other.keys()])].filter(
    (key) => one.get(key) !== other.get(key),
  );
}
