import { Agent } from 'node:http';
import pg from 'pg';
import { type Contender, pathOf, withService } from './contenders.js';
import { query, tallyIsCut } from './database.js';
import { withFile } from './fill.js';
import { median } from './measure.js';
import { MOST_FREQUENT, touch } from './measure-lists.js';
import { catalogue } from './processes.js';
import { seeded } from './random.js';
import { pageAfter, STOREFRONT, type StorefrontList, StorefrontRequests } from './storefront.js';
import { timedRequest } from './timed-request.js';

/** Lists of a running service in the minute after an import into it, and when its database is at rest. */
export interface FirstMinute {
  /** Seconds that the import took, and those of them after the products could be seen. */
  readonly imported: number;
  readonly maintained: number;
  readonly lists: readonly FirstMinuteList[];
}

export interface FirstMinuteList {
  readonly list: string;
  /** Numbers of requests, and the p50 in milliseconds, asked for by one connection alone. */
  readonly first: { readonly requests: number; readonly p50: number };
  readonly steady: { readonly requests: number; readonly p50: number };
}

interface Measured {
  readonly service: Contender;
  readonly url: string;
  readonly rows: number;
  /** Whether there are no products yet, behind which a page could begin. */
  readonly isEmpty?: boolean;
}

const MINUTE = 60_000;
const WARMING = 10_000;

/** Imports products into a running service, and measures its lists at once, and again at rest. */
export function firstMinute(server: string, rows: number): Promise<FirstMinute> {
  return withFile(server, rows, (url, file) =>
    withService(url, (service) => measured({ service, url, rows }, file)),
  );
}

async function measured(of: Measured, file: string): Promise<FirstMinute> {
  const { url, rows } = of;
  // As in a service that runs, V8 is warm, and statements are planned for what was there before: nothing.
  await measureLists({ ...of, isEmpty: true }, WARMING);
  console.error(`Importing ${rows} products`);
  const imported = catalogue(['import', 'products', file], url);
  const seen = await visible(url, imported);
  const { seconds } = await imported;
  const maintained = (performance.now() - seen) / 1000;
  console.error('The first minute');
  const first = await measureLists(of, MINUTE);
  await tallyIsCut(url);
  await query(url, 'VACUUM ANALYZE');
  console.error('At rest');
  const steady = await measureLists(of, MINUTE);
  const summary = (times: readonly number[] = []): FirstMinuteList['first'] => {
    return { requests: times.length, p50: median(times) };
  };
  const lists = STOREFRONT.map((kind) => ({
    list: kind.name,
    first: summary(first.get(kind)),
    steady: summary(steady.get(kind)),
  }));
  return { imported: seconds, maintained, lists };
}

/** The `performance.now()` at which the products could be seen. */
async function visible(url: string, end: Promise<unknown>): Promise<number> {
  const work = { goesOn: true };
  void end.catch(() => undefined).then(() => (work.goesOn = false));
  const database = new pg.Client(url);
  await database.connect();
  while (work.goesOn && (await database.query('SELECT FROM products LIMIT 1')).rowCount === 0) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await database.end();
  return performance.now();
}

/**
 * The milliseconds of each list, asked for in turns. Each time they are the same lists in the same order.
 *
 * @param duration milliseconds
 */
async function measureLists(
  { service, url, rows, isEmpty = false }: Measured,
  duration: number,
): Promise<Map<StorefrontList, number[]>> {
  const requests = new StorefrontRequests(rows);
  const random = seeded(rows);
  const agent = new Agent({ keepAlive: true });
  const database = new pg.Client(url);
  await database.connect();
  const times = new Map(STOREFRONT.map((kind) => [kind, [] as number[]]));
  const until = performance.now() + duration;
  while (performance.now() < until) {
    for (const [kind, found] of times) {
      const question = requests.draw(kind, MOST_FREQUENT);
      if (isEmpty && question.after !== undefined) continue;
      const ask = (page = question): Promise<number> =>
        timedRequest(service.server.address + pathOf(page), service.headers, agent);
      // So that nothing holds that was kept of earlier answers. Any product: one that is written again and again soon has
      // room beside it, and its writes then change no index.
      await touch(database, Math.floor(random() * rows));
      // A walk is measured by a page after its first.
      if (kind.isWalk) await ask();
      found.push(await ask(kind.isWalk ? pageAfter(question) : question));
    }
  }
  agent.destroy();
  await database.end();
  return times;
}
