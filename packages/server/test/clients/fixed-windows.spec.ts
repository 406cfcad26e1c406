import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FixedWindows } from '#server/clients/windows.js';

/** The value of `performance.now()`, in milliseconds. */
let now: number;

beforeEach(() => {
  now = 1000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('Fixed windows', () => {
  it('begin with the first count of their key, and end after their length', () => {
    const windows = new FixedWindows();
    expect(windows.count('a')).toEqual({ count: 1, milliseconds: 60_000 });
    now += 20_000;
    expect(windows.count('b')).toEqual({ count: 1, milliseconds: 60_000 });
    expect(windows.count('a')).toEqual({ count: 2, milliseconds: 40_000 });
    now += 40_000;
    expect(windows.count('a')).toEqual({ count: 1, milliseconds: 60_000 });
    expect(windows.count('b')).toEqual({ count: 2, milliseconds: 20_000 });
  });

  it('do not follow the clock of the system', () => {
    const windows = new FixedWindows();
    windows.count('a');
    const time = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(time - 3_600_000);
    expect(windows.count('a')).toEqual({ count: 2, milliseconds: 60_000 });
    now += 60_000;
    expect(windows.count('a')).toEqual({ count: 1, milliseconds: 60_000 });
  });

  it('are kept until they end, however many there are', () => {
    const windows = new FixedWindows();
    for (let second = 0; second < 200; second += 1) {
      expect(windows.count(`${second}`).count).toBe(1);
      for (let open = Math.max(0, second - 59); open < second; open += 1) {
        const { count, milliseconds } = windows.count(`${open}`);
        expect({ count, milliseconds }).toEqual({
          count: second - open + 1,
          milliseconds: 60_000 - 1000 * (second - open),
        });
      }
      now += 1000;
    }
  });

  it('are dropped before their end where there are too many, the oldest first', () => {
    const windows = new FixedWindows(4);
    for (const key of ['a', 'b', 'c', 'd']) windows.count(key);
    for (const key of ['a', 'b', 'c', 'd']) expect(windows.count(key).count).toBe(2);
    windows.count('e');
    expect(windows.count('c').count).toBe(3);
    expect(windows.count('d').count).toBe(3);
    expect(windows.count('a').count).toBe(1);
  });
});
