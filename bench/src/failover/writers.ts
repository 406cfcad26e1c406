import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { onPrimary, type Servers } from '../background.js';
import { Gaps } from './gaps.js';

/** A resource as a writer needs it. */
export interface Written {
  readonly table: string;
  readonly identifier: string;
  /** Further columns, and their value in the row of $1. */
  readonly others: readonly [names: string, values: string];
}

export const WRITTEN: readonly Written[] = [
  { table: 'brands', identifier: 'brandID', others: ['', ''] },
  // Every second one is digital, so that a filter has a known count.
  {
    table: 'products',
    identifier: 'productID',
    others: [', type', `, (ARRAY['PHYSICAL', 'DIGITAL'])[1 + $1::integer % 2]::product_type`],
  },
];

/** Of the writer that reaches the primary as the service does. */
export const STAYING: Written = { table: 'categories', identifier: 'categoryID', others: ['', ''] };

/**
 * Inserts numbered rows into a resource, one commit after the other, so that at each moment of each history the
 * numbers of its rows are 1 to their count. A number whose commit was lost is used again, with another name.
 */
export class Writer {
  readonly gaps = new Gaps();
  /** The acknowledged rows: number and name. */
  private readonly acknowledged: (readonly [number: number, name: string])[] = [];
  /** Ends after the commit in work. */
  readonly stop: () => Promise<void>;

  constructor(
    primary: Servers,
    private readonly resource: Written,
  ) {
    // What a DBA limits for the role of the service does not hold for it.
    this.stop = onPrimary(primary, (client, signal) => this.write(client, signal), 'postgres');
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

  private async write(client: pg.Client, signal: AbortSignal): Promise<void> {
    const { table, identifier, others } = this.resource;
    const { rows } = await client.query<{ last: number }>(
      `SELECT coalesce(max("${identifier}")::int, 0) AS last FROM ${table}`,
    );
    for (let number = (rows[0]?.last ?? 0) + 1; !signal.aborted; number += 1) {
      const name = randomUUID();
      await client.query(
        `INSERT INTO ${table} ("${identifier}", name${others[0]}) VALUES ($1::text, $2${others[1]})`,
        [String(number).padStart(9, '0'), name],
      );
      this.acknowledged.push([number, name]);
      this.gaps.success();
      await sleep(5);
    }
  }
}
