import { expect, it } from '@jest/globals';
import { Random, SEED } from '#server/testing/random.js';

const drawn = (random: Random) => Array.from({ length: 1000 }, () => random.below(1_000_000));

it('The seed and a name repeat the same choices, and another name makes others', () => {
  expect(Number.isSafeInteger(SEED)).toBe(true);
  expect(drawn(new Random('writer 1'))).toEqual(drawn(new Random('writer 1')));
  expect(drawn(new Random('writer 1'))).not.toEqual(drawn(new Random('writer 2')));
});

it('Choices are spread evenly', () => {
  const random = new Random('evenly');
  const counts = new Map<number, number>();
  for (let at = 0; at < 100_000; at += 1) {
    const drawn = random.below(10);
    counts.set(drawn, (counts.get(drawn) ?? 0) + 1);
  }
  expect([...counts.keys()].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  // Eight standard deviations of a share of one in ten.
  for (const count of counts.values()) expect(Math.abs(count - 10_000)).toBeLessThan(760);
});
