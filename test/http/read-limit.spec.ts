import { describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { ReadLimit } from '../../src/list/serving/read-limit.js';

/** A read that ends when `end` is called. */
function read(limit: ReadLimit, client: string) {
  let end = (): void => undefined;
  const state = {
    started: false,
    end: () => {
      end();
    },
    done: Promise.resolve(),
  };
  state.done = limit.run(client, () => {
    state.started = true;
    return new Promise<void>((resolve) => (end = resolve));
  });
  return state;
}

describe('Reads of a client', () => {
  it('run up to the maximum at a time, and the others in order', async () => {
    const limit = new ReadLimit(2);
    const reads = Array.from({ length: 4 }, () => read(limit, 'a'));
    const other = read(limit, 'b');
    await turn();
    expect(reads.map(({ started }) => started)).toEqual([true, true, false, false]);
    expect(other.started).toBe(true);
    reads[1]?.end();
    await reads[1]?.done;
    await turn();
    expect(reads.map(({ started }) => started)).toEqual([true, true, true, false]);
    for (const each of [...reads, other]) {
      await turn();
      each.end();
    }
    await Promise.all([...reads, other].map(({ done }) => done));
  });

  it('start when an earlier one fails', async () => {
    const limit = new ReadLimit(1);
    const failing = limit.run('a', () => Promise.reject(new Error('no')));
    const next = read(limit, 'a');
    await expect(failing).rejects.toThrow('no');
    await turn();
    expect(next.started).toBe(true);
  });

  it('get -4 after the timeout, and leave the queue', async () => {
    const limit = new ReadLimit(1, 20);
    const first = read(limit, 'a');
    await expect(limit.run('a', () => Promise.resolve())).rejects.toMatchObject({
      errcode: -4,
      headers: { 'Retry-After': '1' },
    });
    first.end();
    await first.done;
    const next = read(limit, 'a');
    await turn();
    expect(next.started).toBe(true);
  });
});
