import type { Contender } from './contenders.js';
import { residentMemory, Worker } from './processes.js';
import type { Question } from './scenarios.js';
import type { Slice, SliceResult } from './slice.js';

/** The service's resident memory in MiB, every ten seconds or so, under load for some time. */
export async function soak(
  contender: Contender,
  questions: readonly Question[],
  seconds: number,
  connections: number,
): Promise<number[]> {
  const load = new Worker<Slice, SliceResult>('slice.js');
  const memory: number[] = [];
  const until = performance.now() + seconds * 1000;
  for (let at = 0; performance.now() < until; at += 1) {
    const question = questions[at % questions.length];
    if (!question) break;
    // Every slice asks for other pages, so that what is kept of pages is driven out again.
    const shifted = { ...question, offset: question.offset + at };
    const url = contender.server.address + contender.path(shifted);
    const { headers } = contender;
    const length = Math.min(10, seconds);
    await load.run({ url, headers, connections, seconds: length, longest: length, status: 200 });
    memory.push(await residentMemory(contender.server.pid));
  }
  await load.stop();
  return memory;
}
