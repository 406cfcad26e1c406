import { afterAll, beforeAll } from '@jest/globals';

/** What the tests of a file, or of a `describe`, share: started before the first of them, and stopped after the last. */
export function shared<T extends { stop(): Promise<unknown> }>(start: () => Promise<T>): T {
  let started: T | undefined;
  beforeAll(async () => {
    started = await start();
  });
  afterAll(() => started?.stop());
  return new Proxy({} as T, {
    get: (_, name) => {
      if (!started) throw new Error(`It has no ${String(name)} before the tests run`);
      const value: unknown = Reflect.get(started, name);
      return typeof value === 'function' ? (value.bind(started) as unknown) : value;
    },
  });
}
