import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { connected, until } from '../background.js';
import { credentials, startProgram, startService } from '../contenders.js';
import { serverVersion } from '../database.js';
import { Gate } from '../failover/gate.js';
import { copyProducts, fillRanks } from '../fill.js';
import { catalogue, startServer, stopAll } from '../processes.js';
import { type Random, seeded } from '../random.js';
import { Behind } from './behind.js';
import { FAULTS, type Victims } from './faults.js';
import type { Keeping } from './keeper.js';
import { KeptRunning } from './kept-running.js';
import { Pair } from './pair.js';
import { Postgres, PostgresFolder } from './postgres.js';
import { compare, createCopies, createUsual, differences, type Table, TABLES } from './tables.js';
import { startWriters, type Written } from './writers.js';

const [OURS, USUAL] = TABLES;

interface Definition extends Pick<Keeping, 'name' | 'way' | 'pause'> {
  /** What it is a copy of. */
  readonly table: Table;
}

const COPIES: readonly Definition[] = [
  { name: 'mirror()', way: 'mirror', pause: 1000, table: OURS },
  { name: 'updatedAt', way: 0, pause: 1000, table: USUAL },
  { name: 'updatedAt, overlap', way: 5, pause: 1000, table: USUAL },
  { name: 'download', way: 'download', pause: 5000, table: USUAL },
];

/** What a copy came to. Objects are counted once, however often a comparison found them. */
export interface Copy {
  readonly name: string;
  /** Objects that it lacked. */
  readonly missed: number;
  /** Objects that it had as they had been before. */
  readonly old: number;
  /** Objects that it had and that did not exist. */
  readonly leftOver: number;
  /** Comparisons that found a difference. */
  readonly differing: number;
  /** How often it was emptied and read again from the beginning. */
  readonly begun: number;
  readonly requests: number;
  /** That came from the service, with HTTP headers. */
  readonly bytes: number;
  /** Seconds since there was a commit that it did not have. */
  readonly behind: { readonly median: number; readonly greatest: number };
}

export interface Copies {
  readonly postgres: string;
  readonly seed: number;
  readonly seconds: number;
  readonly comparisons: number;
  /** How often each fault happened. */
  readonly faults: Readonly<Record<string, number>>;
  readonly written: Written;
  readonly copies: readonly Copy[];
}

/**
 * Keeps copies of so many products in several ways, beside writers and faults, and compares them again and again.
 *
 * @param progress gets what was found after each comparison
 */
export async function copies(
  products: number,
  seconds: number,
  seed: number,
  progress: (found: Copies) => Promise<void>,
): Promise<void> {
  const path = await mkdtemp(join(tmpdir(), 'catalogue-copies-'));
  const told = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      told.abort();
    });
  }
  const stops: (() => Promise<unknown>)[] = [() => rm(path, { recursive: true, maxRetries: 5 })];
  try {
    const stage = await Stage.set(path, products, stops);
    await stage.run(seconds, seed, told.signal, progress);
  } finally {
    for (const stop of stops.reverse()) await stop();
    await stopAll();
  }
}

/** Servers, services and copies, all running. */
class Stage {
  private readonly written: Written = { transactions: 0, changes: 0, late: 0, longestOpen: 0 };

  private constructor(
    private readonly products: number,
    private readonly postgres: string,
    private readonly store: pg.Client,
    private readonly victims: Victims,
    private readonly gates: readonly Gate[],
    private readonly behind: Behind,
  ) {}

  /** @param stops gets what ends each part, the first one last */
  static async set(
    path: string,
    products: number,
    stops: (() => Promise<unknown>)[],
  ): Promise<Stage> {
    const folder = await PostgresFolder.create(path);
    const pair = await Pair.create(folder);
    stops.push(() => pair.remove());
    const headers = await createDatabase(pair, products, folder.password);
    // Nothing happens to it, and its clock is that of the machine.
    const storeServer = await Postgres.create(folder, 'copies');
    stops.push(() => storeServer.remove());
    const store = await connected(storeServer.url);
    stops.push(() => store.end());
    const names = COPIES.map(({ name }) => name);
    await createCopies(store, names, { port: pair.port, password: folder.password });

    const gates = await Promise.all(COPIES.map(() => Gate.before(0)));
    stops.push(() => Promise.all(gates.map((gate) => gate.shut())));
    const leadTo =
      (table: Table) =>
      (address: string): void => {
        COPIES.forEach((copy, at) => {
          if (copy.table === table) gates[at]?.lead(Number(new URL(address).port));
        });
      };
    // The usual service finds its table under the usual name.
    const usualUrl = `${pair.url()}?options=-c%20search_path%3Dusual`;
    const services = [
      new KeptRunning(() => startService(pair.url(), {}), leadTo(OURS)),
      new KeptRunning(() => startProgram('find-and-count.js', usualUrl), leadTo(USUAL)),
    ];
    stops.push(() => Promise.all(services.map((service) => service.stop())));
    const keepers = COPIES.map(({ name, way, pause }, at) => {
      const address = `http://127.0.0.1:${gates[at]?.port}`;
      const keeping: Keeping = { name, way, pause, address, headers, store: storeServer.url };
      const file = join(import.meta.dirname, 'keeper.js');
      return new KeptRunning(() => startServer(file, [JSON.stringify(keeping)], {}));
    });
    stops.push(() => Promise.all(keepers.map((keeper) => keeper.stop())));
    const behind = new Behind(pair, store, names);
    const version = await serverVersion(pair.url());
    return new Stage(products, version, store, { pair, services, keepers }, gates, behind);
  }

  async run(
    seconds: number,
    seed: number,
    told: AbortSignal,
    progress: (found: Copies) => Promise<void>,
  ): Promise<void> {
    const random = seeded(seed);
    const faults: Record<string, number> = {};
    // The service is one that has run for a while: a new database has no watermark for some seconds.
    await until(async () => {
      const { rows } = await this.store.query(
        `SELECT FROM copies WHERE name = 'mirror()' AND cursor IS NOT NULL`,
      );
      return rows.length > 0;
    }, 'a cursor of mirror()');
    await this.untilUpToDate();
    // What the first copies took is not counted.
    await this.store.query('UPDATE copies SET cleared = 0');
    for (const gate of this.gates) [gate.received, gate.requests] = [0, 0];
    const began = performance.now();
    const elapsed = (): number => Math.round((performance.now() - began) / 1000);
    let comparisons = 0;
    for (const fault of schedule(random)) {
      if (elapsed() >= seconds || told.aborted) break;
      comparisons += 1;
      await this.round(fault, seed * 10_000 + comparisons, random);
      await compare(this.store, comparisons, COPIES);
      faults[fault] = (faults[fault] ?? 0) + 1;
      console.error(`${comparisons}. ${fault}: ${await differences(this.store, comparisons)}`);
      const run = { postgres: this.postgres, seed, seconds: elapsed(), comparisons };
      await progress({ ...run, faults, written: this.written, copies: await this.outcomes() });
    }
  }

  /** Writers write, and a fault happens. Then they rest, and the copies are brought up to date. */
  private async round(fault: string, seed: number, random: Random): Promise<void> {
    const { victims, products, written } = this;
    const stopWriters = startWriters(victims.pair, products, seed, written);
    const stopBehind = this.behind.start();
    try {
      await sleep(3000 + random() * 5000);
      await FAULTS[fault]?.(victims, random);
      await sleep(3000 + random() * 8000);
    } finally {
      await stopWriters();
      await stopBehind();
    }
    await this.untilUpToDate();
  }

  /** Resolves when each copy has done a round that began after now. */
  private async untilUpToDate(): Promise<void> {
    const { rows } = await this.store.query<{ begun: object }>(
      'SELECT jsonb_object_agg(name, begun) AS begun FROM copies',
    );
    await until(async () => {
      const { rowCount } = await this.store.query(
        'SELECT FROM copies WHERE done <= ($1::jsonb ->> name)::integer',
        [rows[0]?.begun],
      );
      return rowCount === 0;
    }, 'a round of each copy');
  }

  private async outcomes(): Promise<Copy[]> {
    const { rows } = await this.store.query<Omit<Copy, 'requests' | 'bytes' | 'behind'>>(
      `SELECT name, cleared AS begun,
         count(DISTINCT "productID") FILTER (WHERE kind = 'missed')::integer AS missed,
         count(DISTINCT "productID") FILTER (WHERE kind = 'old')::integer AS old,
         count(DISTINCT "productID") FILTER (WHERE kind = 'left over')::integer AS "leftOver",
         count(DISTINCT comparison)::integer AS differing
       FROM copies LEFT JOIN differences ON copy = name GROUP BY name`,
    );
    return COPIES.flatMap(({ name }, at) => {
      const { received: bytes = 0, requests = 0 } = this.gates[at] ?? {};
      return rows
        .filter((row) => row.name === name)
        .map((row) => ({ ...row, requests, bytes, behind: this.behind.of(name) }));
    });
  }
}

/** The database of the services, filled, and credentials for it. */
async function createDatabase(
  pair: Pair,
  products: number,
  password: string,
): Promise<Record<string, string>> {
  const postgres = await pair.connect('postgres', 'postgres');
  try {
    await postgres.query(`CREATE ROLE catalogue LOGIN PASSWORD '${password}'`);
    await postgres.query('CREATE DATABASE catalogue OWNER catalogue');
  } finally {
    await postgres.end();
  }
  await catalogue(['migrate'], pair.url());
  await fillRanks(pair.url());
  await copyProducts(pair.url(), products);
  const client = await pair.connect();
  await createUsual(client).finally(() => client.end());
  return credentials(pair.url());
}

/** All faults in random order, again and again. */
export function* schedule(random: Random): Generator<string> {
  for (;;) {
    const left = Object.keys(FAULTS);
    while (left.length > 0) yield* left.splice(Math.floor(random() * left.length), 1);
  }
}
