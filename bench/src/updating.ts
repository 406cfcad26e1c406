import pg from 'pg';
import { withoutTally } from './fill.js';
import { median } from './measure.js';
import { seeded } from './random.js';
import { productID } from './storefront-data.js';

/** The p50 in milliseconds of an update of one price in a transaction of its own. */
export interface Updating {
  readonly withTally: number;
  /** The same table with the same indexes, without the triggers of the tally. */
  readonly withoutTally: number;
}

const UPDATES = 1000;

/** Updates prices all over the products of a database that nobody else uses. */
export async function updating(url: string, rows: number): Promise<Updating> {
  const withTally = await update(url, rows, 1);
  let bare = NaN;
  await withoutTally(url, 'products', async () => {
    // The prices are as they were again.
    bare = await update(url, rows, -1);
  });
  return { withTally, withoutTally: bare };
}

async function update(url: string, rows: number, step: number): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  const random = seeded(rows);
  const times: number[] = [];
  for (let at = 0; at < UPDATES; at += 1) {
    const values = [step, productID(Math.floor(random() * rows))];
    const started = performance.now();
    await client.query({
      name: 'update',
      text: 'UPDATE products SET price = price + $1 WHERE "productID" = $2',
      values,
    });
    times.push(performance.now() - started);
  }
  await client.end();
  return median(times);
}
