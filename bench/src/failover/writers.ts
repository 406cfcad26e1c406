import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { onPrimary } from '../on-primary.js';
import type { Cluster } from './cluster.js';
import { Gaps } from './gaps.js';

/**
 * Inserts numbered rows into a resource, one commit after the other, so that at each moment of each history the
 * numbers of its rows are 1 to their count. A number whose commit was lost is used again, with another name.
 */
export class Writer {
  readonly gaps = new Gaps();
  /** The acknowledged rows: number and name. */
  private readonly acknowledged: (readonly [number: number, name: string])[] = [];
  private readonly told = new AbortController();
  private readonly ended: Promise<void>;

  constructor(
    cluster: Cluster,
    private readonly resource: Written,
  ) {
    this.ended = onPrimary(cluster, this.told.signal, (client) => this.write(client));
  }

  /** Ends after the commit in work. */
  async stop(): Promise<void> {
    this.told.abort();
    await this.ended;
  }

  /** The number of acknowledged rows that the primary does not have. */
  async lost(primary: pg.Client): Promise<number> {
    const { table, identifier } = this.resource;
    const { rows } = await primary.query<{ id: string; name: string }>(
      `SELECT "${identifier}" AS id, name FROM ${table}`,
    );
    const names = new Map(rows.map(({ id, name }) => [Number(id), name]));
    return this.acknowledged.filter(([number, name]) => names.get(number) !== name).length;
  }

  private async write(client: pg.Client): Promise<void> {
    const { table, identifier, others } = this.resource;
    const { rows } = await client.query<{ last: number }>(
      `SELECT coalesce(max("${identifier}")::int, 0) AS last FROM ${table}`,
    );
    for (let number = (rows[0]?.last ?? 0) + 1; !this.told.signal.aborted; number += 1) {
      const name = randomUUID();
      await client.query(
        `INSERT INTO ${table} ("${identifier}", name${others.names}) VALUES ($1, $2${others.values(number)})`,
        [String(number).padStart(9, '0'), name],
      );
      this.acknowledged.push([number, name]);
      this.gaps.success();
      await sleep(5);
    }
  }
}

/** A resource as a writer needs it. */
interface Written {
  readonly table: string;
  readonly identifier: string;
  readonly others: { readonly names: string; readonly values: (number: number) => string };
}

export const BRANDS: Written = {
  table: 'brands',
  identifier: 'brandID',
  others: { names: '', values: () => '' },
};

/** Every second one is digital, so that a filter has a known count. */
export const PRODUCTS: Written = {
  table: 'products',
  identifier: 'productID',
  others: {
    names: ', type',
    values: (number) => `, '${number % 2 === 0 ? 'PHYSICAL' : 'DIGITAL'}'`,
  },
};

/** Inserts, changes and deletes categories, of which a copy is kept. */
export class Changer {
  private changes = 0;
  private readonly told = new AbortController();
  private readonly ended: Promise<void>;

  constructor(cluster: Cluster) {
    this.ended = onPrimary(cluster, this.told.signal, (client) => this.change(client));
  }

  async stop(): Promise<void> {
    this.told.abort();
    await this.ended;
  }

  private async change(client: pg.Client): Promise<void> {
    while (!this.told.signal.aborted) {
      const identifier = `c-${(this.changes * 7) % 500}`;
      await (this.changes % 3 === 0
        ? client.query('DELETE FROM categories WHERE "categoryID" = $1', [identifier])
        : client.query(
            `INSERT INTO categories ("categoryID", name) VALUES ($1, $2)
             ON CONFLICT ("categoryID") DO UPDATE SET name = excluded.name`,
            [identifier, randomUUID()],
          ));
      this.changes += 1;
      await sleep(5);
    }
  }
}
