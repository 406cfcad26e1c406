import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { connected, inBackground, until } from '../background.js';
import { credentials, startService } from '../contenders.js';
import { FAULTS } from './faults.js';
import { KeptRunning } from './kept-running.js';
import { Pair } from './pair.js';
import { Postgres, PostgresFolder } from './postgres.js';
import { serverVersion } from '../database.js';
import { Gate } from '../failover/gate.js';
import { catalogue, startServer, stopAll } from '../processes.js';
import { type Random, seeded } from '../random.js';
import { historiesOf, type Operation, type Seen } from './history.js';
import type { Keeping } from './keeper.js';
import { CLOCK, createCopies, createLog, momentOf } from './tables.js';
import { fill, startWriters, type Written } from './writers.js';

const COPIES = [
  { name: 'waiting', wait: 50 },
  { name: 'asking', wait: 0 },
] as const;

const now = (): bigint => process.hrtime.bigint();

/** What a copy came to. */
export interface MomentsCopy {
  readonly name: string;
  /** Rounds that ended, of which some brought nothing new. */
  readonly rounds: number;
  /** Comparisons of all of it with the source at its moment, one after each commit of a round. */
  readonly comparisons: number;
  readonly differing: number;
  /** Moments that the source had lost before they could be compared. */
  readonly lost: number;
  /** Commits that a broken reference made fail. */
  readonly broken: number;
  readonly begun: number;
}

export interface Moments {
  readonly postgres: string;
  readonly seed: number;
  readonly seconds: number;
  /** Objects at the end. */
  readonly objects: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly written: Omit<Written, 'commits'> & { readonly commits: number };
  readonly copies: readonly MomentsCopy[];
}

/** Keeps copies of all resources beside writers and faults, and compares each with the source at its own moment. */
export async function moments(
  seconds: number,
  seed: number,
): Promise<{ found: Moments; history: Operation[] }> {
  const path = await mkdtemp(join(tmpdir(), 'catalogue-moments-'));
  const stops: (() => Promise<unknown>)[] = [() => rm(path, { recursive: true, maxRetries: 5 })];
  const told = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      told.abort();
    });
  try {
    return await run(path, seconds, seed, told.signal, stops);
  } finally {
    for (const stop of stops.reverse()) await stop();
    await stopAll();
  }
}

/** @param stops gets what ends each part, the first one last */
async function run(
  path: string,
  seconds: number,
  seed: number,
  told: AbortSignal,
  stops: (() => Promise<unknown>)[],
): Promise<{ found: Moments; history: Operation[] }> {
  const folder = await PostgresFolder.create(path);
  const pair = await Pair.create(folder);
  stops.push(() => pair.remove());
  const headers = await createDatabase(pair, folder.password);
  // Nothing happens to it.
  const storeServer = await Postgres.create(folder, 'copies');
  stops.push(() => storeServer.remove());
  const store = await connected(storeServer.url);
  stops.push(() => store.end());
  await createCopies(
    store,
    COPIES.map(({ name }) => name),
  );
  const gate = await Gate.before(0);
  stops.push(() => gate.shut());
  const service = new KeptRunning(
    () => startService(pair.url(), {}),
    (address) => {
      gate.lead(Number(new URL(address).port));
    },
  );
  stops.push(() => service.stop());
  const keepers = COPIES.map((copy) => {
    const address = `http://127.0.0.1:${gate.port}`;
    const keeping: Keeping = {
      ...copy,
      address,
      headers,
      store: storeServer.url,
      source: pair.url(),
    };
    const file = join(import.meta.dirname, 'keeper.js');
    return new KeptRunning(() => startServer(file, [JSON.stringify(keeping)], {}));
  });
  stops.push(() => Promise.all(keepers.map((keeper) => keeper.stop())));

  const losses: bigint[] = [];
  const victims = { pair: noting(pair, losses), services: [service], keepers };
  // A new database has no watermark for some seconds.
  await until(async () => {
    const { rowCount } = await store.query('SELECT FROM reads GROUP BY copy');
    return rowCount === COPIES.length;
  }, 'the first rounds');
  const written: Written = { commits: [], changes: 0, rolledBack: 0, late: 0, longestOpen: 0 };
  const looks = new Map<string, Seen[]>();
  const faults: Record<string, number> = {};
  const random = seeded(seed);
  const [began, version] = [now(), await serverVersion(pair.url())];
  const elapsed = (): number => Math.round(Number(now() - began) / 1e9);
  const stopLooking = inBackground((signal) => look(storeServer.url, looks, signal));
  const stopWriters = startWriters(pair, seed, written);
  try {
    for (const fault of schedule(random)) {
      if (elapsed() >= seconds || told.aborted) break;
      await sleep(3000 + random() * 5000);
      await FAULTS[fault]?.(victims, random);
      faults[fault] = (faults[fault] ?? 0) + 1;
      // Beside the writers.
      const ended = now();
      await until(() => upToDate(store, ended), 'a round of each copy');
      console.error(`${elapsed()} s, ${fault}: ${JSON.stringify(await outcomes(store))}`);
    }
  } finally {
    await stopWriters();
  }
  const client = await pair.connect();
  const last = await client.query<{ name: string }>(CLOCK);
  await until(async () => {
    const { rowCount } = await store.query('SELECT FROM comparisons WHERE n = $1 GROUP BY copy', [
      momentOf(last.rows[0]?.name).n,
    ]);
    return rowCount === COPIES.length;
  }, 'the last commit in each copy');
  await stopLooking();
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM moments.log WHERE identifier = 'clock' AND name IS NOT NULL`,
  );
  const kept = new Map(rows.map(({ name }) => momentOf(name)).map(({ n, token }) => [n, token]));
  const objects = await client.query<{ count: number }>(
    `SELECT (SELECT count(*) FROM brands) + (SELECT count(*) FROM categories) + (SELECT count(*) FROM products)
       + (SELECT count(*) FROM variants) AS count`,
  );
  await client.end();
  const rounds = (await roundsOf(store)).filter(({ call }) => call > began);
  for (const { process: name, ...round } of rounds)
    looks.get(name)?.push({ process: name, ...round });
  const { commits } = written;
  return {
    history: historiesOf({ began, ended: now(), commits, rounds, looks, losses, kept }),
    found: {
      ...{
        postgres: version,
        seed,
        seconds: elapsed(),
        objects: Number(objects.rows[0]?.count),
        faults,
      },
      written: { ...written, commits: commits.length },
      copies: await outcomes(store),
    },
  };
}

async function createDatabase(pair: Pair, password: string): Promise<Record<string, string>> {
  const postgres = await pair.connect('postgres', 'postgres');
  await postgres.query(`CREATE ROLE catalogue LOGIN PASSWORD '${password}'`);
  await postgres.query('CREATE DATABASE catalogue OWNER catalogue');
  await postgres.end();
  await catalogue(['migrate'], pair.url());
  const client = await pair.connect();
  await createLog(client);
  await fill(client, 30);
  await client.end();
  return credentials(pair.url());
}

/** The same servers, which note when nothing more can be committed that a fault loses, and nothing yet behind it. */
function noting(pair: Pair, losses: bigint[]): Pair {
  const lost = (): void => {
    losses.push(now());
  };
  return Object.assign(Object.create(pair) as Pair, {
    failOver: () => pair.failOver(lost),
    connect: async (role?: string, database?: string) => {
      const client = await pair.connect(role, database);
      const renaming = {
        query: (text: string) => {
          if (text.endsWith('RENAME TO catalogue_old')) lost();
          return client.query(text);
        },
      };
      return Object.assign(Object.create(client) as pg.Client, renaming);
    },
  });
}

/** Whether each copy has ended a round that began after a time, and has compared what it has. */
async function upToDate(store: pg.Client, time: bigint): Promise<boolean> {
  const { rows } = await store.query('SELECT FROM reads WHERE call > $1 GROUP BY copy', [time]);
  return rows.length === COPIES.length;
}

/** Looks at each copy ten times a second, as a reader of it does. */
async function look(url: string, looks: Map<string, Seen[]>, signal: AbortSignal): Promise<void> {
  const reader = await connected(url);
  for (const { name } of COPIES) looks.set(name, []);
  while (!signal.aborted) {
    for (const { name } of COPIES) {
      const call = now();
      const { rows } = await reader.query<{ name: string }>(
        CLOCK.replace('categories', `"${name}".categories`),
      );
      const moment = momentOf(rows[0]?.name);
      looks.get(name)?.push({ process: `reader of ${name}`, ...moment, call, return: now() });
    }
    await sleep(100);
  }
  await reader.end();
}

async function roundsOf(store: pg.Client): Promise<Seen[]> {
  const { rows } = await store.query<Record<'copy' | 'n' | 'token' | 'call' | 'return', string>>(
    'SELECT copy, n, token, call, return FROM reads ORDER BY call',
  );
  return rows.map((row) => ({
    ...{ process: row.copy, n: Number(row.n), token: row.token },
    ...{ call: BigInt(row.call), return: BigInt(row.return) },
  }));
}

async function outcomes(store: pg.Client): Promise<MomentsCopy[]> {
  const copies = COPIES.map(async ({ name }) => {
    const { rows } = await store.query<MomentsCopy>(
      `SELECT $1 AS name, (SELECT count(*) FROM reads WHERE copy = $1)::integer AS rounds,
         count(*) FILTER (WHERE NOT lost)::integer AS comparisons,
         count(*) FILTER (WHERE differences <> '{}')::integer AS differing, count(*) FILTER (WHERE lost)::integer AS lost,
         (SELECT count(*) FROM failures WHERE copy = $1)::integer AS broken,
         (SELECT begun FROM "${name}".cursor) AS begun
       FROM comparisons WHERE copy = $1`,
      [name],
    );
    return rows;
  });
  return (await Promise.all(copies)).flat();
}

/** All faults in random order, again and again. */
function* schedule(random: Random): Generator<string> {
  for (;;) {
    const left = Object.keys(FAULTS);
    while (left.length > 0) yield* left.splice(Math.floor(random() * left.length), 1);
  }
}
