import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Reading, ReadingResult } from './cdn-readers.js';
import { startService } from './contenders.js';
import {
  catalogue,
  freePort,
  PROJECT,
  type Server,
  startServer,
  stop,
  watch,
  Worker,
} from './processes.js';

const READERS = 20_000;
const PERIOD = 10;
/** Processes of readers. */
const PROCESSES = 2;
const CLIENT = 'bench-cdn';
const PATH = `/products?clientID=${CLIENT}&limit=10`;

/** What came of readers that poll a list, or what was changed since they asked, through a cache beside writers. */
export interface Cdn {
  readonly readers: number;
  readonly period: number;
  readonly seconds: number;
  /** Requests a second of all readers, and of these what reached the service. */
  readonly asked: number;
  readonly reached: number;
  readonly failures: number;
  /** Of answers: milliseconds until they came, and since the latest change that they have; with those of 100 ms between. */
  readonly latency: Quantiles;
  readonly age: Quantiles;
}

interface Quantiles {
  readonly p50: number;
  readonly p99: number;
  readonly greatest: number;
}

/** @param seconds to read for, once all have begun */
export async function cdn(databaseUrl: string, rows: number, seconds: number): Promise<Cdn> {
  await catalogue(['client', 'create', CLIENT, '--public', '--rate-limit', '0'], databaseUrl).catch(
    () => undefined,
  );
  const service = await startService(databaseUrl, { TRUST_PROXY: '1' });
  const { port, close } = await nginxBefore(service);
  const writer = await startServer(
    join(import.meta.dirname, 'writer.js'),
    [databaseUrl, String(rows)],
    {},
  );
  const since = Date.now();
  const marker = await writeMarker(databaseUrl, since);
  const workers = Array.from(
    { length: PROCESSES },
    () => new Worker<Reading, ReadingResult>('cdn-readers.js'),
  );
  try {
    const counts: number[] = [];
    const count = async (): Promise<number> => counts.push(await answeredBy(service));
    const begun = setTimeout(() => void count(), PERIOD * 1000);
    const reading = {
      port,
      readers: READERS / PROCESSES,
      period: PERIOD,
      seconds,
      path: PATH,
      since,
    };
    const ending = setTimeout(() => void count(), (PERIOD + seconds) * 1000);
    const found = await Promise.all(workers.map((worker) => worker.run(reading)));
    clearTimeout(begun);
    clearTimeout(ending);
    const [before = NaN, after = NaN] = counts;
    const sum = (of: (result: ReadingResult) => number): number =>
      found.reduce((total, each) => total + of(each), 0);
    return {
      readers: READERS,
      period: PERIOD,
      seconds,
      asked: sum(({ answers }) => answers) / seconds,
      reached: (after - before) / seconds,
      failures: sum(({ failures }) => failures),
      latency: quantiles(found.flatMap(({ latencies }) => latencies)),
      age: quantiles(found.flatMap(({ ages }) => ages)),
    };
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    await marker();
    await writer.stop();
    await close();
    await service.stop();
  }
}

/** Writes into the first product ten times a second how many milliseconds have passed. Gives what ends it. */
async function writeMarker(databaseUrl: string, since: number): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const text = `UPDATE products SET stock = $1 WHERE "productID" = (SELECT min("productID") FROM products)`;
  const told = new AbortController();
  const writing = (async () => {
    while (!told.signal.aborted) {
      await client.query(text, [Date.now() - since]);
      await sleep(100);
    }
  })();
  return async () => {
    told.abort();
    await writing;
    await client.end();
  };
}

/** The number of requests for products that a service has answered. */
async function answeredBy({ adminAddress = '' }: Server): Promise<number> {
  const text = await (await fetch(`${adminAddress}/metrics`)).text();
  const counts = text.matchAll(
    /^catalogue_request_duration_seconds_count\{.*"\/products".*\} (\d+)$/gm,
  );
  return [...counts].reduce((total, [, each]) => total + Number(each), 0);
}

/** Starts nginx with `deploy/cache.conf`, of which only addresses are replaced. */
async function nginxBefore(service: Server): Promise<{ port: number; close: () => Promise<void> }> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'catalogue-bench-'));
  const text = (await readFile(join(PROJECT, 'deploy', 'cache.conf'), 'utf8'))
    .replace('listen 8081;', `listen 127.0.0.1:${port} backlog=4096;`)
    .replaceAll('server 127.0.0.1:3000', `server ${new URL(service.address).host}`)
    .replace('/var/cache/nginx/catalogue ', `${folder}/kept `);
  const file = join(folder, 'nginx.conf');
  await writeFile(
    file,
    `daemon off; user ${userInfo().username}; worker_processes 2; pid ${folder}/pid; error_log stderr crit;
     events { worker_connections 19000; }
     http { access_log off; keepalive_timeout 90s; keepalive_requests 100000;\n${text}\n}\n`,
  );
  const environment = { PATH: `${process.env.PATH ?? ''}:/usr/sbin` };
  const child = watch(
    spawn('nginx', ['-e', 'stderr', '-p', folder, '-c', file], {
      env: environment,
      stdio: 'inherit',
    }),
  );
  while (
    !(await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    ))
  )
    await sleep(100);
  return {
    port,
    close: async () => {
      await stop(child);
      await rm(folder, { recursive: true });
    },
  };
}

function quantiles(values: readonly number[]): Quantiles {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? NaN;
  return { p50: at(0.5), p99: at(0.99), greatest: at(1) };
}
