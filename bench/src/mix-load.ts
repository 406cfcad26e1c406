import { Agent } from 'node:http';
import { answerTasks } from './processes.js';
import { timedRequest } from './timed-request.js';

/** Requests for different addresses, sent in their order. */
export interface MixLoad {
  readonly address: string;
  readonly headers: Record<string, string>;
  readonly paths: readonly string[];
  readonly connections: number;
  /** After which no more are sent. Those under way are waited for. */
  readonly seconds: number;
}

export interface MixLoadResult {
  /** Milliseconds of each request that was sent. */
  readonly times: readonly number[];
  /** Seconds until the last of them was answered. */
  readonly seconds: number;
}

// The load has a process of its own, so that its work is not the contenders'.
answerTasks(load);

async function load(task: MixLoad): Promise<MixLoadResult> {
  const { address, headers, paths, connections, seconds } = task;
  const agent = new Agent({ keepAlive: true });
  const started = performance.now();
  const passed = (): number => (performance.now() - started) / 1000;
  const times: number[] = [];
  let next = 0;
  const connection = async (): Promise<void> => {
    while (next < paths.length && passed() < seconds) {
      const path = paths[next] ?? '';
      next += 1;
      times.push(await timedRequest(address + path, headers, agent));
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  agent.destroy();
  return { times, seconds: passed() };
}
