import pg from 'pg';
import { putting } from './tables.js';

/** As far as it is used here. */
export interface Product {
  readonly productID: string;
  readonly updatedAt: string;
}

/** A copy in a table of PostgreSQL, with its cursor beside it. What a method did is kept when it resolves. */
export class Store {
  private constructor(
    private readonly client: pg.Client,
    private readonly name: string,
  ) {}

  static async open(url: string, name: string): Promise<Store> {
    const client = new pg.Client(url);
    await client.connect();
    return new Store(client, name);
  }

  async cursor(): Promise<string | undefined> {
    const { rows } = await this.client.query<{ cursor: string | null }>(
      'SELECT cursor FROM copies WHERE name = $1',
      [this.name],
    );
    return rows[0]?.cursor ?? undefined;
  }

  /** Counts a round that begins, or one that is done. */
  async count(column: 'begun' | 'done'): Promise<void> {
    await this.set(`${column} = ${column === 'done' ? 'begun' : 'begun + 1'}`);
  }

  save = async (cursor: string | undefined): Promise<void> => {
    await this.set('cursor = $2', cursor ?? null);
  };

  clear = async (): Promise<void> => {
    await this.set('cleared = cleared + 1');
    await this.client.query(`DELETE FROM "${this.name}"`);
  };

  put = async (products: readonly Product[]): Promise<void> => {
    await this.client.query(putting(this.name), [JSON.stringify(products)]);
  };

  delete = async (identifiers: readonly string[]): Promise<void> => {
    await this.client.query(`DELETE FROM "${this.name}" WHERE "productID" = ANY ($1)`, [
      identifiers,
    ]);
  };

  /** Deletes all products but these. */
  retain = async (identifiers: readonly string[]): Promise<void> => {
    await this.client.query(
      `DELETE FROM "${this.name}" WHERE "productID" NOT IN (SELECT unnest($1::text[]))`,
      [identifiers],
    );
  };

  private async set(assignment: string, ...values: unknown[]): Promise<void> {
    await this.client.query(`UPDATE copies SET ${assignment} WHERE name = $1`, [
      this.name,
      ...values,
    ]);
  }
}
