import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between two checks. */
const PERIOD = 20;

/** Waits until a condition is true. Throws an error with its source when it is not in time. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  milliseconds = 60_000,
): Promise<void> {
  const end = performance.now() + milliseconds;
  while (!(await condition())) {
    if (performance.now() > end) {
      throw new Error(`Not true after ${milliseconds} ms: ${String(condition)}`);
    }
    await sleep(PERIOD);
  }
}

/** The result of the first call that does not throw. Throws the last error when time is over. */
export async function eventually<T>(look: () => T | Promise<T>, milliseconds = 10_000): Promise<T> {
  const end = performance.now() + milliseconds;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await sleep(PERIOD);
  }
}
