import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { connected } from '../background.js';
import { mirrorOf } from '../client.js';
import {
  CLOCK,
  differing,
  type Moment,
  momentOf,
  RESOURCES,
  Source,
  stateOf,
  storeOf,
} from './tables.js';

/** What a process that keeps copies of all resources is told. */
export interface Keeping {
  readonly name: string;
  /** Seconds that it waits for a change; 0: it asks again and again. */
  readonly wait: number;
  /** Where the service is. */
  readonly address: string;
  readonly headers: Record<string, string>;
  /** The database with the copies, and the source. */
  readonly store: string;
  readonly source: string;
}

const { name, wait, address, headers, store, source } = JSON.parse(
  process.argv[2] ?? '',
) as Keeping;
const client = new pg.Client(`${store}?options=-c%20search_path%3D${name}`);
await client.connect();
const cursors = await client.query<{ cursor: string | null }>('SELECT cursor FROM cursor');
const stores = Object.fromEntries(
  (Object.keys(RESOURCES) as (keyof typeof RESOURCES)[]).map((each) => [
    each,
    storeOf(client, each),
  ]),
);
const mirror = await mirrorOf(address, headers, stores, {
  cursor: cursors.rows[0]?.cursor ?? undefined,
  begin: () => client.query('BEGIN'),
  commit: () => client.query('COMMIT'),
  rollback: () => client.query('ROLLBACK'),
  save: (cursor: string | undefined) =>
    client.query(
      'UPDATE cursor SET cursor = $1::text, begun = begun + ($1::text IS NULL)::integer',
      [cursor ?? null],
    ),
});
const folded = new Source();
let log: pg.Client | undefined;
console.log('http://127.0.0.1:0');
process.once('SIGTERM', () => process.exit());
// The commit after which the process was killed.
await compare(await moment());
for (;;) {
  const call = process.hrtime.bigint();
  try {
    const isNew = await mirror.round(wait > 0 ? { wait } : {});
    const returned = process.hrtime.bigint();
    const has = await moment();
    await client.query('INSERT INTO public.reads VALUES ($1, $2, $3, $4, $5)', [
      ...[name, has.n, has.token, call, returned],
    ]);
    if (isNew) await compare(has);
    // So that the next request is sent when its round begins.
    await sleep(300);
  } catch (error) {
    // The service is not available, or a reference of the copy is broken. The next round continues.
    const { code, message } = error as { code?: string; message: string };
    if (code?.startsWith('23'))
      await client.query('INSERT INTO public.failures VALUES ($1, $2)', [name, message]);
    await sleep(1000);
  }
}

async function moment(): Promise<Moment> {
  const { rows } = await client.query<{ name: string }>(CLOCK);
  return momentOf(rows[0]?.name);
}

/** Compares all of the copy with the source as it was at the moment that the copy has. */
async function compare(has: Moment): Promise<void> {
  if (Number.isNaN(has.n)) return;
  const state = await stateOf(client);
  for (;;) {
    try {
      log ??= await connected(source);
      const then = await folded.at(log, has);
      const differences = then ? differing(state, then) : [];
      await client.query('INSERT INTO public.comparisons VALUES ($1, $2, $3, $4)', [
        ...[name, has.n, differences, !then],
      ]);
      return;
    } catch {
      // The source is down.
      void log?.end().catch(() => undefined);
      log = undefined;
      await sleep(300);
    }
  }
}
