import { expect, it } from '@jest/globals';
import { listKeyOf } from '#server/list/reading/prepared-list.js';

it('A key of a list tells any two parameter values apart', () => {
  const values = [
    null,
    undefined,
    NaN,
    Infinity,
    -Infinity,
    0,
    1,
    1n,
    '1',
    'Infinity',
    true,
    [],
    '',
  ];
  const keys = values.flatMap((value) => [
    listKeyOf('list', [value]),
    listKeyOf('list', [[value]]),
  ]);
  expect(new Set(keys).size).toBe(2 * values.length);
  expect(listKeyOf('list', ['1', 2])).toBe(listKeyOf('list', ['1', 2]));
});
