import { describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import type { CatalogueRequest } from '#server/http/request.js';
import { ReadLimit } from '#server/list/serving/read-limit.js';
import type { Settings } from '#server/settings/settings.js';

/** Three and four connections give a client two and three reads, two of them of one resource. */
const limitFor = (poolSize: number) => new ReadLimit({ poolSize } as Settings);

/** A read that ends when `end` is called. */
function read(limit: ReadLimit, client: string, resource = 'things') {
  let end = (): void => undefined;
  const state = {
    started: false,
    end: () => {
      end();
    },
    done: Promise.resolve(),
  };
  state.done = run(limit, client, resource, () => {
    state.started = true;
    return new Promise<void>((resolve) => (end = resolve));
  });
  return state;
}

function run(limit: ReadLimit, client: string, resource: string, work: () => Promise<void>) {
  const request = { client: { clientID: client }, res: { destroyed: false } };
  return limit.run(resource, request as CatalogueRequest, work);
}

describe('Reads of a client', () => {
  it('run up to the maximum at a time, and the others in order', async () => {
    const limit = limitFor(3);
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

  it('of a resource leave room for those of others, and start when it is their turn', async () => {
    const limit = limitFor(4);
    const things = Array.from({ length: 4 }, () => read(limit, 'a', 'things'));
    const parts = Array.from({ length: 3 }, () => read(limit, 'a', 'parts'));
    const started = async () => {
      await turn();
      return [things, parts].map((reads) => reads.filter((each) => each.started).length);
    };
    expect(await started()).toEqual([2, 1]);
    parts[0]?.end();
    await parts[0]?.done;
    expect(await started()).toEqual([2, 2]);
    things[0]?.end();
    await things[0]?.done;
    expect(await started()).toEqual([3, 2]);
    for (let round = 0; round < 4; round += 1) {
      for (const each of [...things, ...parts]) each.end();
      await turn();
    }
    await Promise.all([...things, ...parts].map(({ done }) => done));
    // Every read has been taken off the counts.
    const others = Array.from({ length: 2 }, () => read(limit, 'a', 'things'));
    await turn();
    expect(others.map((each) => each.started)).toEqual([true, true]);
  });

  it('start when one of the same client ends, and no other', async () => {
    const limit = limitFor(1);
    const [first, other] = [read(limit, 'a'), read(limit, 'b')];
    const [next, waiting] = [read(limit, 'a'), read(limit, 'b')];
    other.end();
    await other.done;
    await turn();
    expect([next.started, waiting.started]).toEqual([false, true]);
    first.end();
    await first.done;
    await turn();
    expect(next.started).toBe(true);
  });

  it('start when an earlier one fails', async () => {
    const limit = limitFor(1);
    const failing = run(limit, 'a', 'things', () => Promise.reject(new Error('no')));
    const next = read(limit, 'a');
    await expect(failing).rejects.toThrow('no');
    await turn();
    expect(next.started).toBe(true);
  });

  it('get -4 after the timeout, and leave the queue', async () => {
    const limit = Object.assign(limitFor(1), { timeout: 20 });
    const first = read(limit, 'a');
    await expect(run(limit, 'a', 'things', () => Promise.resolve())).rejects.toMatchObject({
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
