import { setTimeout as sleep } from 'node:timers/promises';

/** What `attempt` resolves to, once it does. Rejects as it does if that takes too long. */
export async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await sleep(20);
  }
}
