import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { onPrimary, type Servers } from '../background.js';
import { oneOf, type Random, seeded } from '../random.js';
import { productID } from '../storefront-data.js';
import { TABLES } from './tables.js';

/** What kinds of writers there are. Each has products of its own, so that none waits for another one. */
const KINDS: readonly Kind[] = [
  { name: 'single changes', changes: 1, open: 0, pause: 100, count: 2 },
  { name: 'late commits', changes: 5, open: 15_000, pause: 500, count: 4 },
  { name: 'many at once', changes: 300, open: 0, pause: 8000, count: 1 },
  { name: 'a clock of its own', changes: 2, open: 0, pause: 200, count: 1, behind: 60_000 },
];

interface Kind {
  readonly name: string;
  /** The changes of a transaction. */
  readonly changes: number;
  /** Milliseconds that a transaction is open, at most. */
  readonly open: number;
  /** Milliseconds between transactions, on average. */
  readonly pause: number;
  readonly count: number;
  /**
   * Milliseconds that its clock is behind, at most, in every third round on average. It takes `updatedAt` from that.
   * `undefined`: the time is the `now()` of the database.
   */
  readonly behind?: number;
}

/** Of a run so far. */
export interface Written {
  transactions: number;
  changes: number;
  /** Transactions that were open for a second or longer. */
  late: number;
  /** Seconds. */
  longestOpen: number;
}

const WRITERS = KINDS.flatMap((kind) => Array.from({ length: kind.count }, () => kind));

/** Statements, of which $1 is an identifier and $2 a number. The table and the time of the change are put in. */
const CHANGES = {
  update: `UPDATE TABLE SET price = $2::integer % 1000, stock = $2 % 60, "updatedAt" = NOW WHERE "productID" = $1`,
  move: `UPDATE TABLE SET "brandID" = 'b' || lpad(($2::integer % 500)::text, 4, '0'), colours = '{red}', "updatedAt" = NOW
    WHERE "productID" = $1`,
  insert: `INSERT INTO TABLE ("productID", type, name, price, currency, "createdAt", "updatedAt")
    VALUES ($1, 'DIGITAL', 'Inserted', $2, 'EUR', NOW, NOW) ON CONFLICT ("productID") DO NOTHING`,
  delete: `DELETE FROM TABLE WHERE "productID" = $1 AND $2 >= 0`,
  rename: `UPDATE TABLE SET "productID" = $1 || '-new', "updatedAt" = NOW WHERE "productID" = $1 AND $2 >= 0
    AND NOT EXISTS (SELECT FROM TABLE WHERE "productID" = $1 || '-new')`,
  renameBack: `UPDATE TABLE SET "productID" = $1, "updatedAt" = NOW WHERE "productID" = $1 || '-new' AND $2 >= 0
    AND NOT EXISTS (SELECT FROM TABLE WHERE "productID" = $1)`,
};

const FREQUENCIES: readonly [keyof typeof CHANGES, ...(keyof typeof CHANGES)[]] = [
  ...(['update', 'update', 'update', 'move'] as const),
  ...(['insert', 'insert', 'delete', 'rename', 'renameBack'] as const),
];

/** Starts all writers. The result ends them: each commits what it has begun. */
export function startWriters(
  primary: Servers,
  products: number,
  seed: number,
  written: Written,
): () => Promise<void> {
  const ends = WRITERS.map((kind, at) => {
    const random = seeded(seed * 100 + at);
    const behind = random() < 1 / 3 ? random() : 0;
    const clock = (): Date | undefined =>
      kind.behind === undefined ? undefined : new Date(Date.now() - behind * kind.behind);
    const own = (): string => {
      const number = Math.floor((random() * products) / WRITERS.length) * WRITERS.length + at;
      return productID(number);
    };
    return onPrimary(primary, (client, signal) =>
      write(client, { kind, random, own, clock, signal, written }),
    );
  });
  return async () => {
    await Promise.all(ends.map((end) => end()));
  };
}

interface Work {
  readonly kind: Kind;
  readonly random: Random;
  /** Draws a product. */
  readonly own: () => string;
  /** The time of a change; `undefined`: that of the database. */
  readonly clock: () => Date | undefined;
  readonly signal: AbortSignal;
  readonly written: Written;
}

async function write(client: pg.Client, work: Work): Promise<void> {
  const { kind, random, own, clock, signal, written } = work;
  const change = async (): Promise<void> => {
    const [name, product] = [oneOf(random, FREQUENCIES), own()];
    await changeBoth(client, CHANGES[name], [product, Math.floor(random() * 1e6)], clock());
    written.changes += 1;
  };
  while (!signal.aborted) {
    const began = performance.now();
    await client.query('BEGIN');
    const changes = 1 + Math.floor(random() * kind.changes);
    for (let at = 0; at < changes; at += 1) await change();
    if (kind.open > 0) {
      await pauseOf(kind.open * random() ** 2, signal);
      await client.query('SAVEPOINT undone');
      await change();
      if (random() < 0.5) await client.query('ROLLBACK TO undone');
    }
    await client.query(kind.open > 0 && random() < 0.1 ? 'ROLLBACK' : 'COMMIT');
    const open = (performance.now() - began) / 1000;
    if (open >= 1) written.late += 1;
    written.longestOpen = Math.max(written.longestOpen, open);
    written.transactions += 1;
    await pauseOf(kind.pause * 2 * random(), signal);
  }
}

/** Changes the table of the service and that of the usual service alike. */
async function changeBoth(
  client: pg.Client,
  statement: string,
  values: unknown[],
  time?: Date,
): Promise<void> {
  const now = time ? `'${time.toISOString()}'::timestamptz` : 'now()';
  for (const table of TABLES) {
    const text = statement.replaceAll('TABLE', table).replaceAll('NOW', now);
    await client.query(text, values);
  }
}

/** Ends early when a signal is aborted. */
async function pauseOf(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}
