import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { BARE_ENVIRONMENT } from '../cli/catalogue.js';
import { createDatabase, queryOn, type TestDatabase } from '#server/testing/database.js';
import { type Credentials, loadBrands } from '../database/load-brands.js';
import { Random } from '#server/testing/random.js';
import { until } from '../until.js';

/** The built service in a separate process, with its own database. */
export interface Target {
  readonly child: ChildProcess;
  readonly database: TestDatabase;
  readonly port: number;
  readonly adminPort: number;
  /** The credentials of each client, as headers. */
  readonly headers: Readonly<Record<Client, Credentials>>;
  /** The output of the process so far. */
  output(): string;
  stop(): Promise<void>;
}

/** An attacker and a normal client. */
export type Client = 'attacker' | 'shop';

const BRANDS = 500;
/** Products of 1 kB each. Together they exceed the socket buffers of the kernel. */
const PRODUCTS = 30_000;

/**
 * Starts the service on a database with brands and products.
 *
 * @param openFiles limit of open files. Default: that of this process
 */
export async function startTarget(
  environment: NodeJS.ProcessEnv = {},
  openFiles?: number,
): Promise<Target> {
  const database = await createDatabase();
  const headers = await loadBrands(database.url, ['attacker', 'shop'], BRANDS);
  await loadProducts(database.url);
  const limit = openFiles === undefined ? '' : `ulimit -n ${openFiles}; `;
  const child = spawn('sh', ['-c', `${limit}exec "$0" dist/main.js start`, process.execPath], {
    env: {
      ...BARE_ENVIRONMENT,
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      LOG_LEVEL: 'warn',
      DATABASE_URL: database.url,
      ...environment,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const portOf = (line: RegExp): number => Number(line.exec(output)?.[1] ?? 0);
  await until(() => {
    if (child.exitCode !== null) throw new Error(output);
    return output.includes('Catalogue listens on');
  }, 60_000);
  return {
    child,
    database,
    headers,
    port: portOf(/Catalogue listens on http:\S+:(\d+)/),
    adminPort: portOf(/Health and metrics are on http:\S+:(\d+)/),
    output: () => output,
    stop: async () => {
      const exit = once(child, 'exit');
      if (child.exitCode === null && child.kill('SIGTERM')) await exit;
      await database.drop();
    },
  };
}

async function loadProducts(url: string): Promise<void> {
  await queryOn(
    url,
    `INSERT INTO products ("productID", type, name, description)
     SELECT 'p' || i, 'PHYSICAL', 'Product ' || i, repeat('x', 1000)
     FROM generate_series(1, ${PRODUCTS}) i`,
  );
}

/** The response to a request of a normal client. */
export interface Visit {
  readonly status: number;
  readonly body: string;
}

const random = new Random('visits');

/**
 * A request of a normal client, on a connection of its own.
 *
 * @param milliseconds time limit
 */
export async function visit(
  { port, headers }: Target,
  path = `/brands?limit=1&offset=${random.below(BRANDS)}`,
  milliseconds = 10_000,
): Promise<Visit> {
  return answerOf(
    fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { ...headers.shop, Connection: 'close' },
      signal: AbortSignal.timeout(milliseconds),
    }),
  );
}

export async function answerOf(pending: Promise<Response>): Promise<Visit> {
  const response = await pending;
  return { status: response.status, body: await response.text() };
}

/** Milliseconds for which the service caches the text of its metrics. */
const CACHE_TIME = 250;
/** The `performance.now()` value at which metrics were read last. */
let lastRead = -Infinity;

/** The value of a metric without labels, as it is after the call. */
export async function metric({ adminPort }: Target, name: string): Promise<number> {
  await sleep(Math.max(0, lastRead + CACHE_TIME - performance.now()));
  const response = await fetch(`http://127.0.0.1:${adminPort}/metrics`);
  lastRead = performance.now();
  const [, value] = new RegExp(`^${name} (\\S+)$`, 'm').exec(await response.text()) ?? [];
  if (value === undefined) throw new Error(`There is no metric ${name}`);
  return Number(value);
}

/** Metrics of resources that requests hold; 0 if no request is in progress. */
const HELD = [
  'catalogue_requests_in_work',
  'catalogue_requests_waiting',
  'catalogue_undelivered_bytes',
  'catalogue_streams_open',
];

/** Waits until no request holds any resource. */
export async function untilNothingHeld(target: Target, milliseconds: number): Promise<void> {
  for (const name of HELD) {
    await until(async () => (await metric(target, name)) === 0, milliseconds);
  }
}

/** The number of open file descriptors of the process. */
export function descriptors({ child }: Target): number {
  return readdirSync(`/proc/${child.pid ?? ''}/fd`).length;
}
