import { describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { ReadLimit } from '../../src/list/serving/read-limit.js';

/** A read that ends when it is told to. */
function read(turns: ReadLimit, client: string) {
  let end = (): void => undefined;
  const state = {
    started: false,
    end: () => {
      end();
    },
    done: Promise.resolve(),
  };
  state.done = turns.run(client, () => {
    state.started = true;
    return new Promise<void>((resolve) => (end = resolve));
  });
  return state;
}

describe('Turns', () => {
  it('are given to each client up to its maximum, and to the next in order', async () => {
    const turns = new ReadLimit(2);
    const reads = Array.from({ length: 4 }, () => read(turns, 'a'));
    const other = read(turns, 'b');
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

  it('are passed on where a read fails', async () => {
    const turns = new ReadLimit(1);
    const failing = turns.run('a', () => Promise.reject(new Error('no')));
    const next = read(turns, 'a');
    await expect(failing).rejects.toThrow('no');
    await turn();
    expect(next.started).toBe(true);
  });

  it('are refused with -4 where they do not come in time, and the place is not lost', async () => {
    const turns = new ReadLimit(1, 20);
    const first = read(turns, 'a');
    await expect(turns.run('a', () => Promise.resolve())).rejects.toMatchObject({
      errcode: -4,
      headers: { 'Retry-After': '1' },
    });
    first.end();
    await first.done;
    const next = read(turns, 'a');
    await turn();
    expect(next.started).toBe(true);
  });
});
