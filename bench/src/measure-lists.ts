import { Agent } from 'node:http';
import pg from 'pg';
import { type Contender, isOwn, LONGEST_ANSWER, mustAgree, pathOf } from './contenders.js';
import { isQuiet } from './database.js';
import { type Effort, type Filled, inTurn, median, quantile } from './measure.js';
import type { Question } from './scenarios.js';
import { productID } from './storefront-data.js';
import { pageAfter, type StorefrontList, type StorefrontRequests } from './storefront.js';
import { timedRequest } from './timed-request.js';

/** How long one kind of list takes a contender, asked for by one connection alone. */
export interface ListMeasurement {
  readonly list: string;
  readonly weight: number;
  readonly contender: string;
  readonly requests: number;
  /** Those of them that took too long, and count as 30 seconds. */
  readonly timedOut: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Requests of a list in a round, if there is time for them. */
const REQUESTS = 30;
/** The lists are of this many of the most frequent brands and categories, which take longest. */
export const MOST_FREQUENT = 10;

/**
 * Measures lists in turn. Before each request, and before each walk, a product is written, so that
 * nothing that a contender has kept of earlier answers holds.
 */
export async function measureLists(
  contenders: readonly Contender[],
  kinds: readonly StorefrontList[],
  requests: StorefrontRequests,
  { url: databaseUrl, rows }: Filled,
  { seconds, rounds }: Effort,
): Promise<ListMeasurement[]> {
  const compared = ({ isOwn: alone }: StorefrontList): readonly Contender[] =>
    alone ? contenders.filter(isOwn) : contenders;
  for (const kind of kinds) {
    await mustAgree(kind.name, requests.draw(kind, MOST_FREQUENT), compared(kind));
  }
  const agent = new Agent({ keepAlive: true });
  const database = new pg.Client(databaseUrl);
  await database.connect();
  const slice = async (
    { isWalk }: StorefrontList,
    contender: Contender,
    questions: readonly Question[],
  ): Promise<number[]> => {
    const until = performance.now() + seconds * 1000;
    const times: number[] = [];
    await isQuiet(database);
    for (const [at, question] of questions.entries()) {
      if (times.length > 0 && performance.now() > until) break;
      if (!isWalk || at === 0) await touch(database, Math.floor(rows / 2));
      const url = contender.server.address + pathOf(question);
      const time = await timedRequest(url, contender.headers, agent);
      // A walk is measured by the pages after its first, which is a list like another.
      if (!isWalk || at > 0) times.push(time);
    }
    return times;
  };
  const measured = kinds.flatMap((kind) =>
    compared(kind).map((contender) => ({
      kind,
      contender,
      times: [] as number[],
    })),
  );
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const kind of kinds) {
        const questions = questionsOf(kind, requests);
        const turns = measured.filter((each) => each.kind === kind);
        for (const { contender, times } of inTurn(turns, round)) {
          // Who has used up the time of all rounds has answered often enough.
          const spent = times.reduce((sum, time) => sum + time, 0) / 1000;
          if (spent < seconds * rounds) times.push(...(await slice(kind, contender, questions)));
        }
      }
    }
  } finally {
    agent.destroy();
    await database.end();
  }
  return measured.map(({ kind: { name, weight }, contender, times }) => ({
    list: name,
    weight,
    contender: contender.name,
    requests: times.length,
    timedOut: times.filter((time) => time >= LONGEST_ANSWER).length,
    p50: median(times),
    p99: quantile(times, 0.99),
  }));
}

function questionsOf(kind: StorefrontList, requests: StorefrontRequests): Question[] {
  const draw = (): Question => requests.draw(kind, MOST_FREQUENT);
  if (!kind.isWalk) return Array.from({ length: REQUESTS }, draw);
  const pages = [draw()];
  for (let page = pages[0]; page && pages.length <= REQUESTS; pages.push(page)) {
    page = pageAfter(page);
  }
  return pages;
}

/** Writes the product of a number, and leaves it as it is. */
export async function touch(database: pg.Client, number: number): Promise<void> {
  await database.query('UPDATE products SET stock = stock WHERE "productID" = $1', [
    productID(number),
  ]);
}
