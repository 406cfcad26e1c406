import type { Contender } from './contenders.js';
import { residentMemory, Worker } from './processes.js';
import type { Question } from './scenarios.js';
import type { Slice, SliceResult } from './slice.js';

/** Of what it can answer. */
const TIMES = 5;
/** Requests under way at once, at most: more than the service takes in. */
const CONNECTIONS = 1000;
/** Seconds of a part of it. */
const PART = 10;

/** What came of asking for more than can be answered. */
export interface Overload {
  /** As many requests at once as can be answered, before. */
  readonly before: SliceResult;
  readonly during: readonly SliceResult[];
  /** Again, in the second that begins four seconds after the last of them. */
  readonly after: SliceResult;
  /** Resident memory in MiB, after each part. */
  readonly memory: readonly number[];
}

/** Asks a service for five times as many pages, each read anew, as it can answer. */
export async function overload(
  contender: Contender,
  question: Question,
  seconds: number,
  connections: number,
): Promise<Overload> {
  const load = new Worker<Slice, SliceResult>('slice.js');
  const { server, headers } = contender;
  const url = server.address + contender.path(question);
  const usual = { url, headers, connections, status: 200 };
  const before = await load.run({ ...usual, seconds: PART, longest: PART });
  const during: SliceResult[] = [];
  const memory: number[] = [];
  for (let passed = 0; passed < seconds; passed += PART) {
    during.push(
      await load.run({
        ...usual,
        connections: CONNECTIONS,
        seconds: PART,
        longest: PART,
        rate: Math.round(TIMES * before.perSecond),
      }),
    );
    memory.push(await residentMemory(server.pid));
  }
  await new Promise((resolve) => setTimeout(resolve, 4000));
  const after = await load.run({ ...usual, seconds: 1, longest: 1 });
  await load.stop();
  return { before, during, after, memory };
}
